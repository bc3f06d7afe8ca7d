import { edgeRouterPolicyBehaviour, servicePolicyBehaviour } from '../access/policies.ts'
import { postureCheckBehaviour, postureCheckTypeBehaviour } from '../access/posture/posture-checks.ts'
import { sessionBehaviour } from '../access/sessions/session-members.ts'
import { configBehaviour, configTypeBehaviour } from '../configs/configs.ts'
import { authPolicyBehaviour } from '../credentials/auth-policies.ts'
import { enrollmentBehaviour } from '../credentials/enrollment-tokens.ts'
import { authenticatorBehaviour } from '../credentials/new-authenticator.ts'
import { externalJwtSignerBehaviour } from '../credentials/signers/external-jwt-signers.ts'
import { caBehaviour } from '../enrollment/cas.ts'
import { identityBehaviour } from '../identities/identities.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import type { Behaviour } from '../kernel/records/behaviour.ts'
import { apiSessionBehaviour } from '../login/current-api-session.ts'
import { edgeRouterBehaviour, transitRouterBehaviour } from '../routers/routers.ts'
import { serviceBehaviour, terminatorBehaviour } from '../services/services.ts'

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

/** Finds the particular rules of a resource; none for one that no behaviour is about. */
export function behaviourOf<R extends Resource>(resource: R): Behaviour<R> {
  const found = BEHAVIOURS.find((candidate): candidate is Behaviour<R> => candidate.resource === resource)
  return found ?? { resource }
}
