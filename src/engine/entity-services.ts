import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../resources/access/policies.ts'
import type { Resource } from '../resources/declaration/resource.ts'
import { cas } from '../resources/enrollment/cas.ts'
import { identities } from '../resources/identities/identities.ts'
import { authPolicies } from '../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../resources/login/external-jwt-signers.ts'
import { postureChecks } from '../resources/posture/posture-checks.ts'
import { edgeRouters } from '../resources/routers/edge-routers.ts'
import { terminators } from '../resources/routers/terminators.ts'
import { transitRouters } from '../resources/routers/transit-routers.ts'
import { configTypes } from '../resources/services/config-types.ts'
import { configs } from '../resources/services/configs.ts'
import { services } from '../resources/services/services.ts'
import type * as wire from '../resources/wire/record-names.ts'
import { behaviourOf } from './behaviours.ts'
import type { EngineContext } from './context/context.ts'
import type { EntityService } from './records/entity-service.ts'
import { ResourceService } from './records/resource-service.ts'

/** The entities of every resource that the API offers, each by the service that reads, makes, changes and deletes them. */
export class EntityServices {
  readonly #context: EngineContext
  readonly #services: { readonly resource: Resource }[] = []
  readonly cas: EntityService<wire.Ca, wire.CaCreate, wire.CaReplace, wire.CaPatch>
  readonly externalJwtSigners: EntityService<
    wire.ExternalJwtSigner,
    wire.ExternalJwtSignerCreate,
    wire.ExternalJwtSignerReplace,
    wire.ExternalJwtSignerPatch
  >
  readonly authPolicies: EntityService<
    wire.AuthPolicy,
    wire.AuthPolicyCreate,
    wire.AuthPolicyReplace,
    wire.AuthPolicyPatch
  >
  readonly identities: EntityService<wire.Identity, wire.IdentityCreate, wire.IdentityReplace, wire.IdentityPatch>
  readonly services: EntityService<wire.Service, wire.ServiceCreate, wire.ServiceReplace, wire.ServicePatch>
  readonly edgeRouters: EntityService<
    wire.EdgeRouter,
    wire.EdgeRouterCreate,
    wire.EdgeRouterReplace,
    wire.EdgeRouterPatch
  >
  readonly servicePolicies: EntityService<
    wire.ServicePolicy,
    wire.ServicePolicyCreate,
    wire.ServicePolicyReplace,
    wire.ServicePolicyPatch
  >
  readonly edgeRouterPolicies: EntityService<
    wire.EdgeRouterPolicy,
    wire.EdgeRouterPolicyCreate,
    wire.EdgeRouterPolicyReplace,
    wire.EdgeRouterPolicyPatch
  >
  readonly serviceEdgeRouterPolicies: EntityService<
    wire.ServiceEdgeRouterPolicy,
    wire.ServiceEdgeRouterPolicyCreate,
    wire.ServiceEdgeRouterPolicyReplace,
    wire.ServiceEdgeRouterPolicyPatch
  >
  readonly postureChecks: EntityService<
    wire.PostureCheck,
    wire.PostureCheckCreate,
    wire.PostureCheckReplace,
    wire.PostureCheckPatch
  >
  readonly configTypes: EntityService<
    wire.ConfigType,
    wire.ConfigTypeCreate,
    wire.ConfigTypeReplace,
    wire.ConfigTypePatch
  >
  readonly configs: EntityService<wire.Config, wire.ConfigCreate, wire.ConfigReplace, wire.ConfigPatch>
  readonly transitRouters: EntityService<
    wire.TransitRouter,
    wire.TransitRouterCreate,
    wire.TransitRouterReplace,
    wire.TransitRouterPatch
  >
  readonly terminators: EntityService<
    wire.Terminator,
    wire.TerminatorCreate,
    wire.TerminatorReplace,
    wire.TerminatorPatch
  >

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
