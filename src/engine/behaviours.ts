import type { Resource } from '../resources/declaration/resource.ts'
import { configTypeBehaviour } from './configs/config-types.ts'
import { configBehaviour } from './configs/configs.ts'
import { authPolicyBehaviour } from './credentials/auth-policies.ts'
import { authenticatorBehaviour } from './credentials/authenticators.ts'
import { caBehaviour } from './credentials/cas.ts'
import { enrollmentBehaviour } from './credentials/enrollments.ts'
import { externalJwtSignerBehaviour } from './credentials/external-jwt-signers.ts'
import { identityBehaviour } from './identities/identities.ts'
import { apiSessionBehaviour } from './login/current-api-session.ts'
import { postureCheckTypeBehaviour } from './posture/posture-check-types.ts'
import { postureCheckBehaviour } from './posture/posture-checks.ts'
import type { Behaviour } from './records/behaviour.ts'
import { edgeRouterPolicyBehaviour } from './routers/edge-router-policies.ts'
import { edgeRouterBehaviour } from './routers/edge-routers.ts'
import { transitRouterBehaviour } from './routers/transit-routers.ts'
import { servicePolicyBehaviour } from './services/service-policies.ts'
import { serviceBehaviour } from './services/services.ts'
import { sessionBehaviour } from './services/session-members.ts'
import { terminatorBehaviour } from './services/terminators.ts'

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
]

/** What is special about a resource; nothing, for one that no behaviour is about. */
export function behaviourOf<R extends Resource>(resource: R): Behaviour<R> {
  const found = BEHAVIOURS.find((candidate): candidate is Behaviour<R> => candidate.resource === resource)
  return found ?? { resource }
}
