import type {
  AuthPolicyCreate,
  CaCreate,
  ConfigCreate,
  ConfigTypeCreate,
  EdgeRouterCreate,
  EdgeRouterPolicyCreate,
  ExternalJwtSignerCreate,
  IdentityCreate,
  PostureCheckCreate,
  ServiceCreate,
  ServiceEdgeRouterPolicyCreate,
  ServicePolicyCreate,
  TransitRouterCreate,
} from '../facts/resources/wire-names.ts'
import type { Assertion } from './assertions.ts'
import type { ServiceConfigPair } from './managed-kinds.ts'

/** An identity of a model: of the type `Default`, and no administrator, unless it says so. */
export interface ModelIdentity
  extends Omit<IdentityCreate, 'type' | 'isAdmin'>,
    Partial<Pick<IdentityCreate, 'type' | 'isAdmin'>> {
  /** Configs that replace, for this identity, the services' own. */
  readonly serviceConfigs?: readonly ServiceConfigPair[]
}

/**
 * A network as a model file describes it. Every entity is the body of the request that creates it, with names wherever the
 * API takes ids: `configs: ['intercept-wiki']`, `serviceRoles: ['@wiki']`, `authPolicyId: 'Default'`. An identity is no
 * administrator, and of the type `Default`, unless it says so.
 */
export interface NetworkModel {
  readonly externalJwtSigners?: readonly ExternalJwtSignerCreate[]
  readonly authPolicies?: readonly AuthPolicyCreate[]
  readonly cas?: readonly CaCreate[]
  readonly configTypes?: readonly ConfigTypeCreate[]
  readonly configs?: readonly ConfigCreate[]
  readonly postureChecks?: readonly PostureCheckCreate[]
  readonly services?: readonly ServiceCreate[]
  readonly edgeRouters?: readonly EdgeRouterCreate[]
  readonly transitRouters?: readonly TransitRouterCreate[]
  readonly identities?: readonly ModelIdentity[]
  readonly servicePolicies?: readonly ServicePolicyCreate[]
  /** Which edge routers identities may use. A model that lists neither these nor `serviceEdgeRouterPolicies` means all with all. */
  readonly edgeRouterPolicies?: readonly EdgeRouterPolicyCreate[]
  /** Which edge routers carry services. `[]` means none. */
  readonly serviceEdgeRouterPolicies?: readonly ServiceEdgeRouterPolicyCreate[]
  /** Assertions that must hold in the network. */
  readonly assertions?: readonly Assertion[]
}

/**
 * Answers a model unchanged. An editor then knows its members in a TypeScript file; the command line reads the default export of the file
 * as a model.
 *
 * @example
 * export default defineModel({
 *   identities: [{ name: 'laptop', roleAttributes: ['employees'] }],
 *   assertions: [{ never: { identity: ['#contractor'], dial: ['#confidential'] } }],
 * })
 */
export function defineModel(model: NetworkModel): NetworkModel {
  return model
}

/**
 * A file by its name, a text in YAML, alone or with the name that messages give it, or a model that a program made. A string with several
 * lines, or with a key at its beginning, is a text.
 */
export type ModelInput = string | { readonly name: string; readonly text: string } | NetworkModel
