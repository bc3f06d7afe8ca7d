import type { ComponentChildren } from 'preact'
import { memberOf, type Row } from '../api/read-json.ts'
import { EntityLink, type Role, RoleLinks, Time } from '../parts/entity-link.tsx'
import { valueText } from '../parts/words.ts'

/** A column of a table. */
export interface Column {
  readonly title: string
  /** The symbol by which the API sorts it; absent where it has no order. */
  readonly sort?: string
  /** Whether it is there only where the reader asks for it. */
  readonly isMore?: boolean
  /** The value as text, for files. */
  readonly text: (row: Row) => string
  /** The value on the page; the text unless given. */
  readonly show?: (row: Row) => ComponentChildren
}

/** A cell shows as many chips; the others stand on the page of the entity. */
const MOST_CHIPS = 4

/** The member of an entity at a path such as `envInfo.os`. */
export function memberAt({ of }: Row, path: string): unknown {
  return path.split('.').reduce(memberOf, of)
}

/** A column with a member of the entity in words. */
export function member(title: string, path: string, rest: Partial<Column> = {}): Column {
  const last = path.split('.').at(-1) ?? path
  const text = (row: Row) => {
    const value = memberAt(row, path)
    return value === undefined || value === null || value === '' ? '' : valueText(last, value)
  }
  return { title, text, ...rest }
}

/** A column with an instant. */
export function instant(
  title: string,
  instantOf: string | ((row: Row) => unknown),
  rest: Partial<Column> = {},
): Column {
  const read = typeof instantOf === 'string' ? (row: Row) => memberAt(row, instantOf) : instantOf
  const text = (row: Row) => String(read(row) ?? '')
  return { title, text, show: (row) => text(row) && <Time at={text(row)} />, ...rest }
}

/** A column with a role list or with role attributes, of entities of a kind. */
export function roles(title: string, kind: string, path: string): Column {
  const read = (row: Row): readonly Role[] => {
    const shown = memberAt(row, `${path}Display`)
    const values = memberAt(row, path)
    if (Array.isArray(shown)) return shown.map((one) => ({ role: textAt(one, 'role'), name: textAt(one, 'name') }))
    return Array.isArray(values) ? values.map((one) => ({ role: `#${one}`, name: `#${one}` })) : []
  }
  return {
    title,
    text: (row) =>
      read(row)
        .map(({ name }) => name)
        .join(' '),
    show: (row) =>
      read(row).length > 0 && (
        <span class="chips">
          <RoleLinks kind={kind} roles={read(row)} most={MOST_CHIPS} />
        </span>
      ),
  }
}

/** A column with an entity that the row refers to. */
export function entity(title: string, kind: string, path: string, rest: Partial<Column> = {}): Column {
  const [id, name] = [
    (row: Row) => textAt(memberAt(row, path), 'id'),
    (row: Row) => textAt(memberAt(row, path), 'name'),
  ]
  return {
    title,
    text: (row) => name(row) || id(row),
    show: (row) => id(row) && <EntityLink kind={kind} id={id(row)} name={name(row)} />,
    ...rest,
  }
}

function textAt(value: unknown, name: string): string {
  return String(memberOf(value, name) ?? '')
}

/** The state of an entity: a mark and a word. */
export function state(
  stateOf: (row: Row) => { readonly word: string; readonly tone: 'online' | 'down' | 'none' },
): Column {
  return {
    title: 'State',
    text: (row) => stateOf(row).word,
    show: (row) => {
      const { word, tone } = stateOf(row)
      return (
        <span class="named state">
          <span class={tone === 'none' ? 'dot' : `dot dot-${tone}`} />
          {word}
        </span>
      )
    },
  }
}
