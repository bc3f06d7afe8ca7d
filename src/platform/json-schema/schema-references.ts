import { isMap, memberOf } from '../../base/members.ts'
import { SCHEMAS_BY_NAME } from './json-schema-formats.ts'

type Document = Readonly<Record<string, unknown>>

/** Keywords whose values are data and no schemas. */
const DATA = ['const', 'default', 'enum', 'examples']
/** Keywords that only hold targets of references, or name a schema. */
const PLACES = ['$defs', '$id', 'definitions']

/**
 * Follows a reference: a JSON pointer within the document, which may stand behind the `$id` of the document. Undefined for every other
 * reference.
 */
export function targetOf(root: object, reference: string): unknown {
  const own = memberOf(root, '$id')
  const local = typeof own === 'string' && reference.startsWith(`${own}#`) ? reference.slice(own.length) : reference
  if (local !== '#' && !local.startsWith('#/')) return undefined
  const steps = local.split('/').slice(1).map(unescaped)
  return steps.reduce<unknown>((node, step) => memberOf(node, step), root)
}

/**
 * A schema in which each reference names its target by a place of our own. A library that resolves references by its own reading of a
 * pointer, or by the `$id` of an inner schema, then comes to the same target as {@link targetOf}. Every reference has a target,
 * and no reference leads back to itself.
 */
export function withPlainReferences(schema: Document): Document {
  const places = new Map<unknown, string>()
  const definitions: Record<string, unknown> = {}

  function placeOf(target: unknown): string {
    const known = places.get(target)
    if (known !== undefined) return known
    const name = `s${places.size}`
    places.set(target, name)
    definitions[name] = plain(target)
    return name
  }

  function plain(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(plain)
    return isMap(node)
      ? Object.fromEntries(Object.entries(node).flatMap(([name, member]) => keyword(name, member)))
      : node
  }

  function keyword(name: string, member: unknown): readonly [string, unknown][] {
    if (PLACES.includes(name)) return []
    if (DATA.includes(name)) return [[name, member]]
    if (name === '$ref' && typeof member === 'string') {
      return [[name, `#/definitions/${placeOf(targetOf(schema, member))}`]]
    }
    const isByName = SCHEMAS_BY_NAME.includes(name) && isMap(member)
    return [[name, isByName ? byName(member) : plain(member)]]
  }

  function byName(schemas: Document): Document {
    return Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, plain(one)]))
  }

  const root = plain(schema)
  return { ...(isMap(root) ? root : {}), definitions }
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}
