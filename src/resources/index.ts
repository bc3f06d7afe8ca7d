import type { RecordKind } from '../ports/storage.ts'
import { apiSessionCertificates } from './api-session-certificates.ts'
import { apiSessions } from './api-sessions.ts'
import { authPolicies } from './auth-policies.ts'
import { authRequests } from './auth-requests.ts'
import { authenticators } from './authenticators.ts'
import { cas } from './cas.ts'
import { configTypes } from './config-types.ts'
import { configs } from './configs.ts'
import { controllerSettings } from './controller-settings.ts'
import { edgeRouters } from './edge-routers.ts'
import { enrollments } from './enrollments.ts'
import { externalJwtSigners } from './external-jwt-signers.ts'
import { identities } from './identities.ts'
import { identityTypes } from './identity-types.ts'
import { mfas } from './mfas.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from './policies.ts'
import { postureCheckTypes } from './posture-check-types.ts'
import { postureChecks } from './posture-checks.ts'
import { endpointStates, failedServiceRequests, postureData, reportedProcesses } from './posture-records.ts'
import type { Resource } from './resource.ts'
import { revocations } from './revocations.ts'
import { serviceConfigs } from './service-configs.ts'
import { serviceViews } from './service-views.ts'
import { services } from './services.ts'
import { sessions } from './sessions.ts'
import { signingKeys } from './signing-keys.ts'
import { terminators } from './terminators.ts'
import { transitRouters } from './transit-routers.ts'

/** Every kind of record that a controller keeps. */
export const RESOURCES: readonly Resource[] = [
  apiSessionCertificates,
  apiSessions,
  authPolicies,
  authRequests,
  authenticators,
  configTypes,
  configs,
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
