import { edgeRouters } from '../resources/edge-routers.ts'
import { identities } from '../resources/identities.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../resources/policies.ts'
import { postureChecks } from '../resources/posture-checks.ts'
import { services } from '../resources/services.ts'
import { enrollOperations } from './client/enroll.ts'
import { postureResponseOperations } from './client/posture-responses.ts'
import { clientServiceOperations } from './client/services.ts'
import { clientSessionOperations } from './client/sessions.ts'
import { crud } from './crud.ts'
import type { Apis } from './handler.ts'
import { identityPostureOperations } from './management/posture.ts'
import { authenticate } from './shared/authenticate.ts'
import { caCertificates } from './shared/ca-certificates.ts'
import { currentApiSessionOperations } from './shared/current-api-session.ts'
import { currentIdentity } from './shared/current-identity.ts'
import { type VersionFacts, versionOperations } from './shared/version.ts'

/** The operations of both APIs: what is not a row here is not served. */
export function apis(facts: VersionFacts): Apis {
  const shared = [
    ...versionOperations(facts),
    caCertificates,
    authenticate,
    ...currentApiSessionOperations,
    currentIdentity,
  ]
  return {
    client: [
      ...shared,
      ...enrollOperations,
      ...clientServiceOperations,
      ...clientSessionOperations,
      ...postureResponseOperations,
    ],
    management: [
      ...shared,
      ...crud(identities),
      ...crud(services),
      ...crud(edgeRouters),
      ...crud(servicePolicies),
      ...crud(edgeRouterPolicies),
      ...crud(serviceEdgeRouterPolicies),
      ...crud(postureChecks),
      ...identityPostureOperations,
    ],
  }
}
