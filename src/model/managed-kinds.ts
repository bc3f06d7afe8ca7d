import { isMap } from '../base/members.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../facts/access/policy.resource.ts'
import { postureChecks } from '../facts/access/posture/posture-check.resource.ts'
import { configs, configTypes } from '../facts/configs/config.resource.ts'
import { BUILT_IN_CONFIG_TYPES } from '../facts/configs/config-types.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { webhooks } from '../facts/webhooks/webhook.resource.ts'
import type { Resource } from '../kernel/declaration/resource.ts'

/**
 * The members of a model file that hold entities. An entity comes after the entities that it refers to; signers and auth policies may refer
 * to each other.
 */
export const MODEL_KEYS = [
  'externalJwtSigners',
  'authPolicies',
  'cas',
  'configTypes',
  'configs',
  'postureChecks',
  'services',
  'edgeRouters',
  'transitRouters',
  'identities',
  'servicePolicies',
  'edgeRouterPolicies',
  'serviceEdgeRouterPolicies',
  'webhooks',
] as const

/** A member of a model file that holds entities. */
export type ModelKey = (typeof MODEL_KEYS)[number]

// The type of the keys stands apart from the declarations of resources: editors of hosts would read all of them otherwise.
const RESOURCE_OF: Readonly<Record<ModelKey, Resource>> = {
  externalJwtSigners,
  authPolicies,
  cas,
  configTypes,
  configs,
  postureChecks,
  services,
  edgeRouters,
  transitRouters,
  identities,
  servicePolicies,
  edgeRouterPolicies,
  serviceEdgeRouterPolicies,
  webhooks,
}

/** A place where an entity names others: a single name, several, `@name` in a role list, or the keys of a map. */
export interface Link {
  /** The members on the path to the place. */
  readonly path: readonly string[]
  readonly to: ModelKey
  readonly form: 'name' | 'names' | 'roles' | 'keys'
}

/** A kind of entity of model files: one for each resource that they hold. */
export interface ModelKind {
  readonly key: ModelKey
  readonly resource: Resource
  readonly links: readonly Link[]
  /** Members that the API requires and a model file may leave out, with their values in that case. */
  readonly assumed: Body
}

const ASSUMED: Partial<Record<ModelKey, Body>> = { identities: { type: 'Default', isAdmin: false } }

/** Links inside of fields, which the declarations do not describe. */
const DEEPER_LINKS: Partial<Record<ModelKey, readonly Link[]>> = {
  authPolicies: [
    { path: ['primary', 'extJwt', 'allowedSigners'], to: 'externalJwtSigners', form: 'names' },
    { path: ['secondary', 'requireExtJwtSigner'], to: 'externalJwtSigners', form: 'name' },
  ],
  identities: [
    { path: ['serviceHostingCosts'], to: 'services', form: 'keys' },
    { path: ['serviceHostingPrecedences'], to: 'services', form: 'keys' },
    { path: ['enrollment', 'ottca'], to: 'cas', form: 'name' },
  ],
}

/** Every kind of entity that a model file holds, in the order in which entities are created. */
export const MODEL_KINDS: readonly ModelKind[] = MODEL_KEYS.map((key) => {
  const resource = RESOURCE_OF[key]
  const links = [...declaredLinks(resource), ...(DEEPER_LINKS[key] ?? [])]
  return { key, resource, links, assumed: ASSUMED[key] ?? {} }
})

/** The kind of a member of a model file. */
export function kindOfKey(key: ModelKey): ModelKind {
  const kind = MODEL_KINDS.find((candidate) => candidate.key === key)
  if (kind === undefined) throw new Error(`no kind of entity is called ${key}`)
  return kind
}

function declaredLinks({ definition, fields }: Resource): readonly Link[] {
  const { references = {}, selects = {} } = definition
  const links = Object.entries(references).map(([field, { to }]) => ({
    path: [field],
    to: keyOfResource(to),
    form: fields[field] === 'set' ? ('names' as const) : ('name' as const),
  }))
  const lists = Object.entries(selects).map(([field, to]) => ({
    path: [field],
    to: keyOfResource(to),
    form: 'roles' as const,
  }))
  return [...links, ...lists].flatMap(({ to, ...link }) => (to === undefined ? [] : [{ ...link, to }]))
}

function keyOfResource(name: string): ModelKey | undefined {
  return MODEL_KEYS.find((key) => RESOURCE_OF[key].name === name)
}

/** Reports whether an id belongs to a config type that every controller has. */
export function isBuiltIn(configTypeId: string): boolean {
  return BUILT_IN_CONFIG_TYPES.some(({ id }) => id === configTypeId)
}

/** An entity as a model file has it: members by the names of the API, and names where the API takes ids. */
export type Body = Readonly<Record<string, unknown>>

/** A config that replaces the service's own for an identity, both by name. */
export interface ServiceConfigPair {
  readonly service: string
  readonly config: string
}

/** The member of an identity that holds its service configs; the API sets them by a separate request. */
export const SERVICE_CONFIGS = 'serviceConfigs'

type Rename = (to: ModelKey, value: string, path: readonly (string | number)[]) => string | undefined

/**
 * The entity with every reference renamed, as from names to ids or back. Where `rename` answers undefined, the reference is left out of its
 * list, or its member is left out.
 */
export function renameLinks(kind: ModelKind, body: Body, rename: Rename): Body {
  let renamed = body
  for (const link of kind.links) renamed = changed(renamed, link.path, (value) => renamedValue(link, value, rename))
  return changed(renamed, [SERVICE_CONFIGS], (pairs) => renamedPairs(pairs, rename))
}

/** Every reference of an entity to another, with its path. */
export function linksOf(kind: ModelKind, body: Body): readonly LinkedName[] {
  const found: LinkedName[] = []
  renameLinks(kind, body, (to, name, path) => {
    found.push({ to, name, path })
    return name
  })
  return found
}

/** A name that stands for another entity, and its path in the body. */
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

/** The body with the value at a path changed; the same body where the path leads nowhere. */
function changed(body: Body, [member = '', ...rest]: readonly string[], change: (value: unknown) => unknown): Body {
  const value = body[member]
  if (value === undefined || value === null) return body
  const next = rest.length === 0 ? change(value) : isMap(value) ? changed(value, rest, change) : value
  if (next !== undefined) return { ...body, [member]: next }
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== member))
}
