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
import type { KeptEntities } from './host-entities.ts'

/** The entities of every resource that the API offers, each by the service that reads, makes, changes and deletes them. */
export class EntityServices implements KeptEntities {
  readonly #context: EngineContext
  readonly #services: { readonly resource: Resource }[] = []
  readonly cas: KeptEntities['cas']
  readonly externalJwtSigners: KeptEntities['externalJwtSigners']
  readonly authPolicies: KeptEntities['authPolicies']
  readonly identities: KeptEntities['identities']
  readonly services: KeptEntities['services']
  readonly edgeRouters: KeptEntities['edgeRouters']
  readonly servicePolicies: KeptEntities['servicePolicies']
  readonly edgeRouterPolicies: KeptEntities['edgeRouterPolicies']
  readonly serviceEdgeRouterPolicies: KeptEntities['serviceEdgeRouterPolicies']
  readonly postureChecks: KeptEntities['postureChecks']
  readonly configTypes: KeptEntities['configTypes']
  readonly configs: KeptEntities['configs']
  readonly transitRouters: KeptEntities['transitRouters']
  readonly terminators: KeptEntities['terminators']
  readonly webhooks: KeptEntities['webhooks']

  constructor(context: EngineContext) {
    this.#context = context
    this.cas = this.of(cas)
    this.externalJwtSigners = this.of(externalJwtSigners)
    this.authPolicies = this.of(authPolicies)
    this.identities = this.of(identities)
    this.services = this.of(services)
    this.edgeRouters = this.of(edgeRouters)
    this.servicePolicies = this.of(servicePolicies)
    this.edgeRouterPolicies = this.of(edgeRouterPolicies)
    this.serviceEdgeRouterPolicies = this.of(serviceEdgeRouterPolicies)
    this.postureChecks = this.of(postureChecks)
    this.configTypes = this.of(configTypes)
    this.configs = this.of(configs)
    this.transitRouters = this.of(transitRouters)
    this.terminators = this.of(terminators)
    this.webhooks = this.of(webhooks)
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

/** Every resource that is special in some way; the rest follow from their declarations alone. */
const BEHAVIOURS: readonly { readonly resource: Resource }[] = [
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

/** Finds the particular rules of a resource; none for one that no behaviour is about. */
export function behaviourOf<R extends Resource>(resource: R): Behaviour<R> {
  const found = BEHAVIOURS.find((candidate): candidate is Behaviour<R> => candidate.resource === resource)
  return found ?? { resource }
}
