import { authPolicies } from '../resources/auth-policies.ts'
import { authenticators } from '../resources/authenticators.ts'
import { configTypes } from '../resources/config-types.ts'
import { configs } from '../resources/configs.ts'
import { edgeRouters } from '../resources/edge-routers.ts'
import { identities } from '../resources/identities.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../resources/policies.ts'
import { postureChecks } from '../resources/posture-checks.ts'
import { services } from '../resources/services.ts'
import { terminators } from '../resources/terminators.ts'
import { transitRouters } from '../resources/transit-routers.ts'
import { enrollOperations } from './client/enroll.ts'
import { postureResponseOperations } from './client/posture-responses.ts'
import { serviceUpdates } from './client/service-updates.ts'
import { clientServiceOperations } from './client/services.ts'
import { clientSessionOperations } from './client/sessions.ts'
import { reachableTerminators } from './client/terminators.ts'
import { crud } from './crud.ts'
import { authenticatorOperations } from './management/authenticators.ts'
import { configOperations } from './management/configs.ts'
import { enrollmentOperations } from './management/enrollments.ts'
import { identityStateOperations } from './management/identity-state.ts'
import { identityPostureOperations } from './management/posture.ts'
import { relatedOperations } from './management/related.ts'
import { edgeRouterReEnrollment, routerAliases } from './management/routers.ts'
import { serviceConfigOperations } from './management/service-configs.ts'
import { serviceList } from './management/services.ts'
import { terminatorsOfService } from './management/terminators.ts'
import type { Operation } from './operation.ts'
import { authenticate } from './shared/authenticate.ts'
import { caCertificates } from './shared/ca-certificates.ts'
import { currentApiSessionOperations } from './shared/current-api-session.ts'
import { currentIdentity } from './shared/current-identity.ts'
import { currentIdentityAuthenticatorOperations } from './shared/current-identity-authenticators.ts'
import { type VersionFacts, versionOperations } from './shared/version.ts'

/** The operations that both APIs offer alike. */
function sharedOperations(facts: VersionFacts) {
  return [
    ...versionOperations(facts),
    caCertificates,
    authenticate,
    ...currentApiSessionOperations,
    currentIdentity,
    ...currentIdentityAuthenticatorOperations,
  ] as const
}

/** The rows of the client API: what an identity does for itself. What is not a row is not served. */
export function clientOperations(facts: VersionFacts) {
  return [
    ...sharedOperations(facts),
    ...enrollOperations,
    ...clientServiceOperations,
    serviceUpdates,
    reachableTerminators,
    ...clientSessionOperations,
    ...postureResponseOperations,
  ] as const
}

/** The rows of the management API: what administrators do. What is not a row is not served. */
export function managementOperations(facts: VersionFacts) {
  return [
    ...sharedOperations(facts),
    ...crud(authPolicies),
    ...crud(authenticators),
    ...authenticatorOperations,
    ...enrollmentOperations,
    ...crud(identities),
    ...identityStateOperations,
    ...crud(services),
    ...crud(edgeRouters),
    ...crud(servicePolicies),
    ...crud(edgeRouterPolicies),
    ...crud(serviceEdgeRouterPolicies),
    ...crud(postureChecks),
    ...crud(configTypes),
    ...crud(configs),
    ...crud(transitRouters),
    ...routerAliases,
    edgeRouterReEnrollment,
    ...crud(terminators),
    terminatorsOfService,
    ...configOperations,
    serviceList,
    ...serviceConfigOperations,
    ...relatedOperations,
    ...identityPostureOperations,
  ] as const
}

/** Rows whose route is known as a literal; rows that are computed from relations are reachable, but not typed. */
type ShapesByRoute<Operations extends readonly Operation[]> = {
  readonly [O in Operations[number] as IsLiteral<O['shape']['route']> extends true
    ? O['shape']['route']
    : never]: O['shape']
}
type IsLiteral<T extends string> = Record<never, never> extends Record<T, 1> ? false : true

/** The operations of each API by route, for typed clients. */
export type ClientApi = ShapesByRoute<ReturnType<typeof clientOperations>>
export type ManagementApi = ShapesByRoute<ReturnType<typeof managementOperations>>
