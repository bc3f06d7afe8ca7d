import type { RecordKind } from '../ports/storage.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from './access/policies.ts'
import { sessions } from './access/sessions.ts'
import { controllerSettings } from './controller-settings.ts'
import type { Resource } from './declaration/resource.ts'
import { cas } from './enrollment/cas.ts'
import { enrollments } from './enrollment/enrollments.ts'
import { identities } from './identities/identities.ts'
import { identityTypes } from './identities/identity-types.ts'
import { apiSessionCertificates } from './login/api-session-certificates.ts'
import { apiSessions } from './login/api-sessions.ts'
import { authPolicies } from './login/auth-policies.ts'
import { authRequests } from './login/auth-requests.ts'
import { authenticators } from './login/authenticators.ts'
import { externalJwtSigners } from './login/external-jwt-signers.ts'
import { mfas } from './login/mfas.ts'
import { revocations } from './login/revocations.ts'
import { signingKeys } from './login/signing-keys.ts'
import { postureCheckTypes } from './posture/posture-check-types.ts'
import { postureChecks } from './posture/posture-checks.ts'
import { endpointStates, failedServiceRequests, postureData, reportedProcesses } from './posture/posture-records.ts'
import { controllerProcesses } from './routers/controller-processes.ts'
import { edgeRouters } from './routers/edge-routers.ts'
import { routerConnections } from './routers/router-connections.ts'
import { terminators } from './routers/terminators.ts'
import { transitRouters } from './routers/transit-routers.ts'
import { configTypes } from './services/config-types.ts'
import { configs } from './services/configs.ts'
import { serviceConfigs } from './services/service-configs.ts'
import { serviceViews } from './services/service-views.ts'
import { services } from './services/services.ts'

/** Every kind of record that a controller keeps. */
export const RESOURCES: readonly Resource[] = [
  apiSessionCertificates,
  apiSessions,
  authPolicies,
  authRequests,
  authenticators,
  configTypes,
  configs,
  controllerProcesses,
  controllerSettings,
  cas,
  edgeRouterPolicies,
  edgeRouters,
  endpointStates,
  enrollments,
  externalJwtSigners,
  failedServiceRequests,
  identities,
  identityTypes,
  mfas,
  postureCheckTypes,
  postureChecks,
  postureData,
  reportedProcesses,
  revocations,
  routerConnections,
  serviceConfigs,
  serviceEdgeRouterPolicies,
  servicePolicies,
  serviceViews,
  services,
  sessions,
  signingKeys,
  terminators,
  transitRouters,
]

/** The resource of a name; a name that no declaration has is a bug of ours. */
export function resourceNamed(name: string): Resource {
  const resource = RESOURCES.find((candidate) => candidate.name === name)
  if (resource === undefined) throw new Error(`no resource is named ${name}`)
  return resource
}

/**
 * Every kind of record that a controller keeps, as a storage needs to know it: fields, unique fields, fields to index.
 *
 * @example
 * for (const kind of RECORD_KINDS) await createTable(kind.name, kind.fields)
 */
export const RECORD_KINDS: readonly RecordKind[] = RESOURCES
