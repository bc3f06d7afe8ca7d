import type { FieldKind } from '../core.ts'
import { parseJson } from './json-text.ts'

/** The field's value, immutable through and through, for what a driver gives: some give large integers as text, some booleans as numbers. */
export function decode(kind: FieldKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'string':
      return value
    case 'integer':
    case 'instant':
    case 'number':
      return typeof value === 'number' ? value : Number(value)
    case 'boolean':
      return typeof value === 'boolean' ? value : Number(value) === 1
    case 'set':
      return value === '[]' ? EMPTY_LIST : frozen(parse(value))
    case 'json':
      return value === '{}' ? EMPTY_OBJECT : frozen(parse(value))
  }
}

const EMPTY_LIST = Object.freeze([])
const EMPTY_OBJECT = Object.freeze({})

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) if (typeof member === 'object') frozen(member)
  return Object.freeze(value)
}

function parse(text: unknown): unknown {
  return parseJson(String(text))
}
