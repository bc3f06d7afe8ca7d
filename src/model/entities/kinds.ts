import { BUILT_IN_CONFIG_TYPES } from '../../domain/config-types/index.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../resources/access/policies.ts'
import type { Resource } from '../../resources/declaration/resource.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { identities } from '../../resources/identities/identities.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import { configs } from '../../resources/services/configs.ts'
import { services } from '../../resources/services/services.ts'

/** The members of a model file that hold entities, what refers to others behind these; signers and auth policies may do both. */
const RESOURCE_OF = {
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
} as const satisfies Readonly<Record<string, Resource>>

/** A member of a model file that holds entities. */
export type ModelKey = keyof typeof RESOURCE_OF

/** Where an entity names others: one, several, in a role list as `@name`, or as the keys of a map. */
export interface Link {
  /** The way to the place, by members. */
  readonly path: readonly string[]
  readonly to: ModelKey
  readonly form: 'name' | 'names' | 'roles' | 'keys'
}

/** What a model file holds of one resource. */
export interface ModelKind {
  readonly key: ModelKey
  readonly resource: Resource
  readonly links: readonly Link[]
}

/** The links that lie deeper than the fields that the declarations speak of. */
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

// Object.keys forgets which keys there are.
export const MODEL_KEYS = Object.keys(RESOURCE_OF) as readonly ModelKey[]

/** Every kind of entity that a model file holds, in the order in which entities are created. */
export const MODEL_KINDS: readonly ModelKind[] = MODEL_KEYS.map((key) => {
  const resource: Resource = RESOURCE_OF[key]
  return { key, resource, links: [...declaredLinks(resource), ...(DEEPER_LINKS[key] ?? [])] }
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

/** Whether an id is that of a config type that every controller has. */
export function isBuiltIn(configTypeId: string): boolean {
  return BUILT_IN_CONFIG_TYPES.some(({ id }) => id === configTypeId)
}
