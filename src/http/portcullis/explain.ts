import { z } from 'zod'
import { type Explanation, explanationText } from '../../domain/explain/index.ts'
import { instant } from '../../domain/instant.ts'
import { Id, Instant, Name } from '../../resources/fields.ts'
import { PostureResponse } from '../client/posture-responses.ts'
import { defineOperation } from '../operation.ts'
import { ExplanationData } from './explanation-schema.ts'

/** Explains one decision about access. It is a POST because what is taken to be reported is a body; nothing is written. */
export const explainOperation = defineOperation(
  {
    route: 'POST /explain',
    summary: 'Explains whether an identity may dial or bind a service, each by id or name',
    access: { entity: 'identity', action: 'read' },
    body: z.object({
      identity: Name,
      service: Name,
      type: z.enum(['Dial', 'Bind']).default('Dial'),
      /** Taken as if the endpoint had reported it. */
      posture: z.array(PostureResponse).max(1000).optional(),
      at: Instant.optional(),
      apiSessionId: Id.optional(),
    }),
    data: ExplanationData,
  },
  async ({ engine, body }) => {
    const { identity, service, type, posture, at, apiSessionId } = body
    return { data: onTheWire(await engine.explain(identity, service, type, { posture, at, apiSessionId })) }
  },
)

function onTheWire(explanation: Explanation) {
  const { at, holdsUntil, policies } = explanation
  return {
    ...explanation,
    at: instant(at),
    holdsUntil: instant(holdsUntil),
    policies: policies.map((policy) => ({
      ...policy,
      checks: policy.checks.map((check) => ({ ...check, holdsUntil: instant(check.holdsUntil) })),
    })),
    text: explanationText(explanation),
  }
}
