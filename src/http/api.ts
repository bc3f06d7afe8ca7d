import { apiSessions } from '../resources/api-sessions.ts'
import { authPolicies } from '../resources/auth-policies.ts'
import { authenticators } from '../resources/authenticators.ts'
import { cas } from '../resources/cas.ts'
import { configTypes } from '../resources/config-types.ts'
import { configs } from '../resources/configs.ts'
import { edgeRouters } from '../resources/edge-routers.ts'
import { externalJwtSigners } from '../resources/external-jwt-signers.ts'
import { identities } from '../resources/identities.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../resources/policies.ts'
import { postureChecks } from '../resources/posture-checks.ts'
import { revocations } from '../resources/revocations.ts'
import { services } from '../resources/services.ts'
import { sessions } from '../resources/sessions.ts'
import { terminators } from '../resources/terminators.ts'
import { clientEdgeRouterOperations } from './client/edge-routers.ts'
import { enrollOperations } from './client/enroll.ts'
import { enrollmentKeyOperations } from './client/enrollment-keys.ts'
import { clientExternalJwtSigners } from './client/external-jwt-signers.ts'
import { postureResponseOperations } from './client/posture-responses.ts'
import { protocols } from './client/protocols.ts'
import { serviceUpdates } from './client/service-updates.ts'
import { clientServiceOperations } from './client/services.ts'
import { sessionCertificateOperations } from './client/session-certificates.ts'
import { clientSessionOperations } from './client/sessions.ts'
import { reachableTerminators } from './client/terminators.ts'
import { identityAccessOperations } from './management/access.ts'
import { authenticatorOperations } from './management/authenticators.ts'
import { caOperations } from './management/cas.ts'
import { configOperations } from './management/configs.ts'
import { controllerSettingsOperations } from './management/controller-settings.ts'
import { databaseOperations } from './management/database.ts'
import { enrollmentOperations } from './management/enrollments.ts'
import { identityStateOperations } from './management/identity-state.ts'
import { identityPostureOperations } from './management/posture.ts'
import { relatedOperations } from './management/related.ts'
import { revocationCreation } from './management/revocations.ts'
import { roleAttributeOperations } from './management/role-attributes.ts'
import { routePath } from './management/route-path.ts'
import { edgeRouterReEnrollment, routerAliases, transitRouterOperations } from './management/routers.ts'
import { serviceConfigOperations } from './management/service-configs.ts'
import { serviceList } from './management/services.ts'
import { summary } from './management/summary.ts'
import { terminatorsOfService } from './management/terminators.ts'
import { typeOperations } from './management/types.ts'
import { crud, crudForAdmins } from './operations/crud.ts'
import type { Operation } from './operations/operation.ts'
import { explainOperation } from './portcullis/explain.ts'
import { simulateOperation } from './portcullis/simulate.ts'
import { authenticate } from './shared/authenticate.ts'
import { caCertificates } from './shared/ca-certificates.ts'
import { capabilityOperations } from './shared/capabilities.ts'
import { clientControllers, managementControllers } from './shared/controllers.ts'
import { currentApiSessionOperations } from './shared/current-api-session.ts'
import { currentIdentity } from './shared/current-identity.ts'
import { currentIdentityAuthenticatorOperations } from './shared/current-identity-authenticators.ts'
import { mfaOperations } from './shared/current-identity-mfa.ts'
import { networkJwts } from './shared/network-jwts.ts'
import { specOperations } from './shared/specs.ts'
import { type VersionFacts, versionOperations } from './shared/version.ts'

/** The operations that both APIs offer alike. */
function sharedOperations(facts: VersionFacts) {
  return [
    ...versionOperations(facts),
    ...capabilityOperations,
    ...specOperations,
    networkJwts,
    caCertificates,
    authenticate,
    ...currentApiSessionOperations,
    currentIdentity,
    ...currentIdentityAuthenticatorOperations,
    ...mfaOperations,
  ] as const
}

/** The rows of the client API: what an identity does for itself. What is not a row is not served. */
export function clientOperations(facts: VersionFacts) {
  return [
    ...sharedOperations(facts),
    protocols,
    clientControllers,
    ...enrollOperations,
    clientExternalJwtSigners,
    ...enrollmentKeyOperations,
    ...sessionCertificateOperations,
    ...clientServiceOperations,
    ...crudForAdmins(services, ['replace', 'patch', 'delete']),
    serviceUpdates,
    reachableTerminators,
    ...clientEdgeRouterOperations,
    ...clientSessionOperations,
    ...postureResponseOperations,
  ] as const
}

/** The rows of the management API: what administrators do. What is not a row is not served. */
export function managementOperations(facts: VersionFacts) {
  return [
    ...sharedOperations(facts),
    managementControllers,
    summary,
    ...databaseOperations,
    ...typeOperations,
    ...crud(revocations),
    ...crud(apiSessions),
    ...crud(sessions),
    routePath,
    ...identityAccessOperations,
    revocationCreation,
    ...roleAttributeOperations,
    ...crud(authPolicies),
    ...crud(cas),
    ...caOperations,
    ...crud(externalJwtSigners),
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
    ...transitRouterOperations,
    ...routerAliases,
    edgeRouterReEnrollment,
    ...crud(terminators),
    terminatorsOfService,
    ...configOperations,
    serviceList,
    ...serviceConfigOperations,
    ...relatedOperations,
    ...controllerSettingsOperations,
    ...identityPostureOperations,
  ] as const
}

/** The rows of our own API: what neither edge API has. API sessions of both are good here. */
export const portcullisOperations = [explainOperation, simulateOperation] as const

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
export type PortcullisApi = ShapesByRoute<typeof portcullisOperations>
