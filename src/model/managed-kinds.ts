import type { Link, ModelKey, ModelKind } from './kinds.ts'

/** An entity as a model file has it: members by the names of the API, and names where the API takes ids. */
export type Body = Readonly<Record<string, unknown>>

/** A config that an identity sees for a service instead of the service's own, each by name. */
export interface ServiceConfigPair {
  readonly service: string
  readonly config: string
}

/** The member of an identity with the configs of its own; the API has a request of its own for them. */
export const SERVICE_CONFIGS = 'serviceConfigs'

type Rename = (to: ModelKey, value: string, path: readonly (string | number)[]) => string | undefined

/**
 * The entity with every reference renamed, as from names to ids or back. A reference for which `rename` answers undefined
 * is left out: of a list, or with its member.
 */
export function renameLinks(kind: ModelKind, body: Body, rename: Rename): Body {
  let renamed = body
  for (const link of kind.links) renamed = changed(renamed, link.path, (value) => renamedValue(link, value, rename))
  return changed(renamed, [SERVICE_CONFIGS], (pairs) => renamedPairs(pairs, rename))
}

/** Every reference of an entity to another, with the way to it. */
export function linksOf(kind: ModelKind, body: Body): readonly LinkedName[] {
  const found: LinkedName[] = []
  renameLinks(kind, body, (to, name, path) => {
    found.push({ to, name, path })
    return name
  })
  return found
}

/** A name that stands for another entity, and the way to the place where it stands. */
export interface LinkedName {
  readonly to: ModelKey
  readonly name: string
  readonly path: readonly (string | number)[]
}

function renamedValue({ to, form, path }: Link, value: unknown, rename: Rename): unknown {
  switch (form) {
    case 'name':
      return typeof value === 'string' ? rename(to, value, path) : value
    case 'names':
      return Array.isArray(value) ? value.flatMap((one, i) => rename(to, String(one), [...path, i]) ?? []) : value
    case 'roles':
      return Array.isArray(value) ? value.flatMap((role, i) => renamedRole(role, to, [...path, i], rename)) : value
    case 'keys': {
      if (!isMap(value)) return value
      const entries = Object.entries(value).map(([key, one]) => [rename(to, key, [...path, key]), one] as const)
      return Object.fromEntries(entries.filter(([key]) => key !== undefined))
    }
  }
}

function renamedRole(role: unknown, to: ModelKey, path: readonly (string | number)[], rename: Rename): unknown[] {
  if (typeof role !== 'string' || !role.startsWith('@')) return [role]
  const name = rename(to, role.slice(1), path)
  return name === undefined ? [] : [`@${name}`]
}

function renamedPairs(pairs: unknown, rename: Rename): unknown {
  if (!Array.isArray(pairs)) return pairs
  return pairs.flatMap((pair: unknown, i) => {
    if (!isMap(pair)) return [pair]
    const service = rename('services', String(pair.service), [SERVICE_CONFIGS, i, 'service'])
    const config = rename('configs', String(pair.config), [SERVICE_CONFIGS, i, 'config'])
    return service === undefined || config === undefined ? [] : [{ service, config }]
  })
}

/** The body with the value at the end of a way changed; nothing happens where the way leads nowhere. */
function changed(body: Body, [member = '', ...rest]: readonly string[], change: (value: unknown) => unknown): Body {
  const value = body[member]
  if (value === undefined || value === null) return body
  const next = rest.length === 0 ? change(value) : isMap(value) ? changed(value, rest, change) : value
  if (next !== undefined) return { ...body, [member]: next }
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== member))
}

/** Whether a value has members by name. */
export function isMap(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
