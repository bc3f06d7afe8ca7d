import { apiSessions } from './api-sessions.ts'
import { authPolicies } from './auth-policies.ts'
import { authenticators } from './authenticators.ts'
import { edgeRouters } from './edge-routers.ts'
import { enrollments } from './enrollments.ts'
import { identities } from './identities.ts'
import { identityTypes } from './identity-types.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from './policies.ts'
import { postureChecks } from './posture-checks.ts'
import { failedServiceRequests, postureData } from './posture-records.ts'
import type { Resource } from './resource.ts'
import { services } from './services.ts'
import { sessions } from './sessions.ts'

/** Every kind of record that a controller keeps. */
export const RESOURCES: readonly Resource[] = [
  apiSessions,
  authPolicies,
  authenticators,
  edgeRouterPolicies,
  edgeRouters,
  enrollments,
  failedServiceRequests,
  identities,
  identityTypes,
  postureChecks,
  postureData,
  serviceEdgeRouterPolicies,
  servicePolicies,
  services,
  sessions,
]

/** The resource of a name; a name that no declaration has is a bug of ours. */
export function resourceNamed(name: string): Resource {
  const resource = RESOURCES.find((candidate) => candidate.name === name)
  if (resource === undefined) throw new Error(`no resource is named ${name}`)
  return resource
}
