import type { FieldKind } from '../core.ts'
import type { SqlLanguage } from '../language.ts'
import { jsonText } from './json-text.ts'
import { isStorable } from './text.ts'

/** The column's value for a field's value. Throws a TypeError for one that is not of the field's kind. */
export function encode(language: SqlLanguage, name: string, kind: FieldKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'string':
      return storable(name, value)
    case 'integer':
    case 'instant':
      if (!Number.isSafeInteger(value)) throw unfit(name, kind)
      return value
    case 'number':
      if (!Number.isFinite(value)) throw unfit(name, kind)
      return value
    case 'boolean':
      if (typeof value !== 'boolean') throw unfit(name, kind)
      return language.boolean(value)
    case 'set':
      if (!Array.isArray(value)) throw unfit(name, kind)
      for (const element of value) storable(name, element)
      return value.length === 0 ? '[]' : JSON.stringify(value)
    case 'json':
      return jsonText(value)
  }
}

function storable(name: string, value: unknown): string {
  if (typeof value !== 'string') throw unfit(name, 'string')
  if (!isStorable(value))
    throw new TypeError(`${name} holds U+0000 or half a surrogate pair, which no database can keep`)
  return value
}

function unfit(name: string, kind: FieldKind): TypeError {
  return new TypeError(`${name} holds no value of the kind ${kind}`)
}
