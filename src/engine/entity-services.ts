import { accessRequestBehaviour } from '../access/access-requests.ts'
import { edgeRouterPolicyBehaviour, servicePolicyBehaviour } from '../access/policies.ts'
import { postureCheckBehaviour, postureCheckTypeBehaviour } from '../access/posture/posture-checks.ts'
import { sessionBehaviour } from '../access/service-sessions/session-members.ts'
import { configBehaviour, configTypeBehaviour } from '../configs/configs.ts'
import type { EngineContext } from '../context/context.ts'
import { authPolicyBehaviour } from '../credentials/auth-policies.ts'
import { enrollmentBehaviour } from '../credentials/enrollment-tokens.ts'
import { externalJwtSignerBehaviour } from '../credentials/external-jwt-signers.ts'
import { authenticatorBehaviour } from '../credentials/new-authenticator.ts'
import { caBehaviour } from '../enrollment/cas.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../facts/access/policy.resource.ts'
import { postureChecks } from '../facts/access/posture/posture-check.resource.ts'
import { configs, configTypes } from '../facts/configs/config.resource.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { webhooks } from '../facts/webhooks/webhook.resource.ts'
import { identityBehaviour } from '../identities/identities.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import { apiSessionBehaviour } from '../login/api-sessions.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { ResourceService } from '../records/resource-service.ts'
import { edgeRouterBehaviour, transitRouterBehaviour } from '../routers/routers.ts'
import { serviceBehaviour, terminatorBehaviour } from '../services/services.ts'
import { webhookBehaviour } from '../webhooks/webhooks.ts'
import type { HostEntityServices } from './host-entities.ts'

/** The resources that the API offers, by the member of the engine. */
export const OFFERED = {
  authPolicies,
  cas,
  configTypes,
  configs,
  edgeRouterPolicies,
  edgeRouters,
  externalJwtSigners,
  identities,
  postureChecks,
  serviceEdgeRouterPolicies,
  servicePolicies,
  services,
  terminators,
  transitRouters,
  webhooks,
} satisfies { readonly [P in keyof HostEntityServices]: Resource }
type Offered = typeof OFFERED

/** The ports and the state of an engine, for the parts built around it; a host does not see them. */
export let contextOf: (engine: Services) => EngineContext

class Services {
  readonly #context: EngineContext
  readonly #services: { readonly resource: Resource }[] = []

  static {
    contextOf = (engine) => engine.#context
  }

  constructor(context: EngineContext) {
    this.#context = context
    for (const [member, resource] of Object.entries(OFFERED)) {
      Object.defineProperty(this, member, { value: this.of<Resource>(resource), enumerable: true })
    }
  }

  /** The service that creates, changes and deletes the entities of a resource. */
  of<R extends Resource>(resource: R): ResourceService<R> {
    const known = this.#services.find((service): service is ResourceService<R> => service.resource === resource)
    if (known !== undefined) return known
    const service = new ResourceService(this.#context, behaviourOf(resource))
    this.#services.push(service)
    return service
  }
}

/** The entities of every resource that the API offers, each by the service that reads, makes, changes and deletes them. */
export const EntityServices =
  // The constructor gives it a service for each resource of the table.
  Services as new (
    context: EngineContext,
  ) => Services & { readonly [P in keyof Offered]: ResourceService<Offered[P]> }

/** Every resource that is special in some way; the rest follow from their declarations alone. */
const BEHAVIOURS: readonly { readonly resource: Resource }[] = [
  accessRequestBehaviour,
  apiSessionBehaviour,
  authPolicyBehaviour,
  authenticatorBehaviour,
  caBehaviour,
  configBehaviour,
  configTypeBehaviour,
  edgeRouterBehaviour,
  edgeRouterPolicyBehaviour,
  enrollmentBehaviour,
  externalJwtSignerBehaviour,
  identityBehaviour,
  postureCheckBehaviour,
  postureCheckTypeBehaviour,
  serviceBehaviour,
  servicePolicyBehaviour,
  sessionBehaviour,
  terminatorBehaviour,
  transitRouterBehaviour,
  webhookBehaviour,
]

/** Finds the particular rules of a resource; a resource without a behaviour has none. */
export function behaviourOf<R extends Resource>(resource: R): Behaviour<R> {
  const found = BEHAVIOURS.find((candidate): candidate is Behaviour<R> => candidate.resource === resource)
  return found ?? { resource }
}
