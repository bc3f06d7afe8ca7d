import type { FieldKind } from '../core.ts'
import { parseJson } from './json-text.ts'

/** The field's value for what a driver gives: some give large integers as text, some booleans as numbers. */
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
      return value === '[]' ? [] : parse(value)
    case 'json':
      return value === '{}' ? {} : parse(value)
  }
}

function parse(text: unknown): unknown {
  return parseJson(String(text))
}
