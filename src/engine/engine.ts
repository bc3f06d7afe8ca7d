import { edgeRouters } from '../resources/edge-routers.ts'
import { identities } from '../resources/identities.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../resources/policies.ts'
import { postureChecks } from '../resources/posture-checks.ts'
import type { Resource } from '../resources/resource.ts'
import { services } from '../resources/services.ts'
import { ApiSessions } from './api-sessions.ts'
import { Authentication } from './authentication.ts'
import type { EngineContext } from './context.ts'
import { Enrollment } from './enrollment.ts'
import { EntityReader } from './entity-reader.ts'
import { edgeRouterHooks, edgeRouterPolicyHooks } from './hooks/edge-router-hooks.ts'
import { identityHooks } from './hooks/identity-hooks.ts'
import { postureCheckHooks } from './hooks/posture-check-hooks.ts'
import { servicePolicyHooks } from './hooks/service-policy-hooks.ts'
import { Posture } from './posture.ts'
import { ResourceService } from './resource-service.ts'
import { Sessions } from './sessions.ts'

/**
 * The controller without its wire: what the two APIs call, and what a host may call directly. Every method takes the
 * {@link Call} it is made in; authorization by operation belongs to the APIs.
 */
export class ControllerEngine {
  readonly context: EngineContext
  /** Entities in their wire form. */
  readonly reader: EntityReader
  readonly apiSessions: ApiSessions
  readonly authentication: Authentication
  readonly enrollment: Enrollment
  readonly posture: Posture
  readonly sessions: Sessions

  readonly identities: ResourceService<typeof identities>
  readonly services: ResourceService<typeof services>
  readonly edgeRouters: ResourceService<typeof edgeRouters>
  readonly servicePolicies: ResourceService<typeof servicePolicies>
  readonly edgeRouterPolicies: ResourceService<typeof edgeRouterPolicies>
  readonly serviceEdgeRouterPolicies: ResourceService<typeof serviceEdgeRouterPolicies>
  readonly postureChecks: ResourceService<typeof postureChecks>

  readonly #services = new Map<string, unknown>()

  constructor(context: EngineContext) {
    this.context = context
    this.reader = new EntityReader(context)
    this.apiSessions = new ApiSessions(context)
    this.authentication = new Authentication(context, this.apiSessions)
    this.enrollment = new Enrollment(context)
    this.posture = new Posture(context)
    this.sessions = new Sessions(context)
    this.identities = this.#offer(identities, new ResourceService(context, identities, identityHooks))
    this.services = this.#offer(services, new ResourceService(context, services))
    this.edgeRouters = this.#offer(edgeRouters, new ResourceService(context, edgeRouters, edgeRouterHooks))
    this.servicePolicies = this.#offer(
      servicePolicies,
      new ResourceService(context, servicePolicies, servicePolicyHooks),
    )
    this.edgeRouterPolicies = this.#offer(
      edgeRouterPolicies,
      new ResourceService(context, edgeRouterPolicies, edgeRouterPolicyHooks),
    )
    this.serviceEdgeRouterPolicies = this.#offer(
      serviceEdgeRouterPolicies,
      new ResourceService(context, serviceEdgeRouterPolicies),
    )
    this.postureChecks = this.#offer(postureChecks, new ResourceService(context, postureChecks, postureCheckHooks))
  }

  /** The service that creates, changes and deletes the entities of a resource. */
  of<R extends Resource>(resource: R): ResourceService<R> {
    const service = this.#services.get(resource.name)
    if (!(service instanceof ResourceService)) throw new Error(`no service writes ${resource.name}`)
    return service
  }

  #offer<R extends Resource>(resource: R, service: ResourceService<R>): ResourceService<R> {
    this.#services.set(resource.name, service)
    return service
  }
}
