import { createHash } from 'node:crypto'
import { isStorable } from '../../../../src/base/text.ts'
import type { FieldKind } from '../../../../src/storage.ts'
import type { SqlLanguage } from '../driver/language.ts'
import type { FieldColumn } from './record-table.ts'

/** Stands before JSON whose keys are spelled with `%`. */
const SPELLED = '%'

/** The characters that JSON escapes in a key, and the character that spells them. */
const ESCAPED = /["\\%\p{Cc}\p{Cs}]/gu

/**
 * The text of a JSON value that {@link parseJson} reads back exactly. Keys with characters that JSON escapes are spelled in
 * another way, because V8 may read such a key as another (https://github.com/nodejs/node/issues/63785).
 */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes('\\') && hasEscapedKey(value) ? SPELLED + JSON.stringify(renamed(value, spell)) : text
}

/** Stands for text that is no stored JSON value. */
export const UNREADABLE = Symbol('unreadable')

/** The value of a {@link jsonText}; {@link UNREADABLE} for other text. */
function parseJson(text: unknown): unknown {
  if (typeof text !== 'string') return UNREADABLE
  try {
    return text.startsWith(SPELLED) ? renamed(JSON.parse(text.slice(1)), unspell) : JSON.parse(text)
  } catch {
    return UNREADABLE
  }
}

function hasEscapedKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasEscapedKey)
  return Object.entries(value).some(([key, member]) => JSON.stringify(key).includes('\\') || hasEscapedKey(member))
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((member) => renamed(member, rename))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [rename(key), renamed(member, rename)]))
}

function spell(key: string): string {
  return key.replace(ESCAPED, (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function unspell(key: string): string {
  return key.replace(/%([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** The column's value for a field's value. Throws a TypeError for a value of another kind than the field's. */
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

/**
 * The field's value, immutable through and through, for what a driver gives: some give large integers as text, some booleans as numbers.
 * {@link UNREADABLE} for any other stored form.
 */
export function decode(kind: FieldKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'string':
      return typeof value === 'string' ? value : UNREADABLE
    case 'integer':
    case 'instant': {
      const number = numberIn(value)
      return Number.isSafeInteger(number) ? number : UNREADABLE
    }
    case 'number': {
      const number = numberIn(value)
      return Number.isFinite(number) ? number : UNREADABLE
    }
    case 'boolean':
      if (typeof value === 'boolean') return value
      return numberIn(value) === 1 || numberIn(value) === 0 ? numberIn(value) === 1 : UNREADABLE
    case 'set': {
      if (value === '[]') return EMPTY_LIST
      const list = parseJson(value)
      return Array.isArray(list) && list.every((element) => typeof element === 'string')
        ? Object.freeze(list)
        : UNREADABLE
    }
    case 'json':
      return value === '{}' ? EMPTY_OBJECT : frozen(parseJson(value))
  }
}

function numberIn(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'bigint' || (typeof value === 'string' && value !== '') ? Number(value) : Number.NaN
}

const EMPTY_LIST = Object.freeze([])
const EMPTY_OBJECT = Object.freeze({})

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) if (typeof member === 'object') frozen(member)
  return Object.freeze(value)
}

/**
 * Folds a text for searches that ignore case, where the database's own `lower` would not do: on every database it knows ASCII only. Null
 * for most texts.
 */
export function foldedText(text: string): string | null {
  if (!NOT_ASCII.test(text)) return null
  const folded = text.toLowerCase()
  return folded === text.replace(ASCII_CAPITALS, (capitals) => capitals.toLowerCase()) ? null : folded
}

const NOT_ASCII = /[^ -~\t\r\n]/
const ASCII_CAPITALS = /[A-Z]+/g

const ELEMENT_COLUMNS = ['record_id', 'position', 'value', 'value_folded']
const MEMBER_COLUMNS = ['record_id', 'path', 'type', 'value', 'value_folded', 'number']

/** Lists the columns of {@link searchRows}. */
export function searchColumns({ kind }: FieldColumn): readonly string[] {
  return kind === 'set' ? ELEMENT_COLUMNS : MEMBER_COLUMNS
}

/** The rows by which the members of a set or a JSON value are found. */
export function searchRows({ kind }: FieldColumn, id: string, value: unknown): (readonly unknown[])[] {
  if (kind === 'json') return Array.from(membersOf(value), (member) => [id, ...member])
  if (!Array.isArray(value)) return []
  return value.map((element, position) => [id, position, element, foldedText(String(element))])
}

/** A member of a JSON value, at any depth: text, a number, a boolean, or a list or object with members of its own. */
export type JsonMember = readonly [
  path: string,
  type: 'text' | 'number' | 'boolean' | 'composite',
  value: string | null,
  folded: string | null,
  number: number | null,
]

const LONGEST_PATH = 200

/** The name of the member of `parent` (a name too, '' for the root) under `key`; long ones are cut to a digest. */
export function memberPath(parent: string, key: string): string {
  const path = `${parent}/${JSON.stringify(key)}`
  return path.length <= LONGEST_PATH ? path : `#${createHash('sha256').update(path).digest('base64')}`
}

/** Every member that has a name and is not null. */
export function* membersOf(value: unknown): Generator<JsonMember> {
  const open: (readonly [path: string, value: unknown])[] = [['', value]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, at] = next
    if (path !== '') {
      const member = asMember(path, at)
      if (member !== undefined) yield member
    }
    // The elements of a list have no names that a filter could say.
    if (typeof at !== 'object' || at === null || Array.isArray(at)) continue
    for (const [key, below] of Object.entries(at)) open.push([memberPath(path, key), below])
  }
}

function asMember(path: string, value: unknown): JsonMember | undefined {
  switch (typeof value) {
    case 'string': {
      // No query can ask for a text that no database can keep: the index keeps a storable form of it.
      const text = isStorable(value) ? value : value.toWellFormed().replaceAll('\u0000', '\ufffd')
      return [path, 'text', text, foldedText(text), null]
    }
    case 'number':
      return [path, 'number', String(value), null, value]
    case 'boolean':
      return [path, 'boolean', null, null, Number(value)]
    default:
      return value === null || value === undefined ? undefined : [path, 'composite', null, null, null]
  }
}
