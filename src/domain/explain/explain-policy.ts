import {
  evaluateCheck,
  explainFailure,
  isPostureKnown,
  missingPosture,
  nextDeadline,
  type PostureCheck,
} from '../posture/index.ts'
import { explainSide } from './explain-side.ts'
import type { CheckExplanation, PolicyExplanation } from './explanation.ts'
import type { AccessFacts, NamedEntity, PolicyUnderReview } from './facts.ts'

/** No API session has this id: what depends on one is then unknown. */
const NO_API_SESSION = ''

/** Holds one service policy against the identity and the service of the question. */
export function explainPolicy(
  policy: PolicyUnderReview,
  identity: NamedEntity,
  service: NamedEntity,
  facts: AccessFacts,
): PolicyExplanation {
  const { id, name, type, semantic } = policy
  const identitySide = explainSide({ roles: policy.identityRoles, semantic }, identity)
  const serviceSide = explainSide({ roles: policy.serviceRoles, semantic }, service)
  const selectsBoth = identitySide.selects && serviceSide.selects
  const applies = selectsBoth && type === facts.type
  const checks = selectsBoth ? policy.checks.map((check) => explainCheck(check, facts)) : []
  const grants = applies && checks.every(({ isPassing }) => isPassing)
  return { id, name, type, semantic, identitySide, serviceSide, applies, grants, checks }
}

function explainCheck(
  check: PostureCheck,
  { posture, apiSessionId = NO_API_SESSION, at }: AccessFacts,
): CheckExplanation {
  const { id, name, typeId } = check
  const { expectedValue: expected, actualValue } = explainFailure(check, posture, apiSessionId, at)
  return {
    id,
    name,
    typeId,
    isPassing: evaluateCheck(check, posture, apiSessionId, at),
    expected,
    known: isPostureKnown(check, posture, apiSessionId) ? actualValue : null,
    missing: missingPosture(check, posture, apiSessionId, at),
    holdsUntil: nextDeadline(check, posture, apiSessionId, at) ?? null,
  }
}
