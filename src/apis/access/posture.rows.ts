import { z } from 'zod'
import { ofAllTypes } from '../../facts/access/posture/posture-check.resource.ts'
import { POSTURE_CHECK_TYPE_IDS } from '../../facts/access/posture/rules/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

const MfaCriteria = described(
  z.object({
    passedMfaAt: z.iso.datetime().nullable(),
    timeoutRemainingSeconds: z.int(),
    timeoutSeconds: z.int(),
    unlockedAt: z.iso.datetime().nullable(),
    wokenAt: z.iso.datetime().nullable(),
  }),
  {
    passedMfaAt: 'When the API session last passed MFA, RFC 3339; null when it never did.',
    timeoutRemainingSeconds: 'The seconds for which that was still good; -1 for ever.',
    timeoutSeconds: 'The seconds for which a code is good; -1 for ever.',
    unlockedAt: 'When the endpoint was last unlocked, RFC 3339; null when it never was.',
    wokenAt: 'When the endpoint last woke, RFC 3339; null when it never did.',
  },
)

const CheckFailure = described(
  z.object({
    actualValue: z.unknown(),
    criteria: MfaCriteria.optional(),
    expectedValue: z.unknown(),
    postureCheckId: z.string(),
    postureCheckName: z.string(),
    postureCheckType: z.enum(POSTURE_CHECK_TYPE_IDS),
    semantic: z.enum(['AllOf', 'OneOf', 'AnyOf']).optional(),
  }),
  {
    actualValue: 'The reported value, in the form of the type: text, a list or an object.',
    criteria: 'For `MFA`: the facts by which it was decided.',
    expectedValue: 'A value that would have passed, in the form of the type.',
    postureCheckId: 'The id of the posture check.',
    postureCheckName: 'Its name.',
    postureCheckType: 'Its type.',
    semantic: 'For `PROCESS_MULTI`: whether all or one of the processes had to run.',
  },
)

const PolicyFailure = described(
  z.object({ checks: z.array(CheckFailure), policyId: z.string(), policyName: z.string() }),
  {
    checks: 'The posture checks that failed.',
    policyId: 'The id of the service policy.',
    policyName: 'Its name.',
  },
)

const FailedServiceRequest = described(
  z.object({
    apiSessionId: z.string(),
    policyFailures: z.array(PolicyFailure),
    serviceId: z.string(),
    serviceName: z.string(),
    sessionType: z.enum(['Dial', 'Bind']),
    when: z.iso.datetime(),
  }),
  {
    apiSessionId: 'The id of the API session that asked.',
    policyFailures: 'The service policies that would have granted it, each with what failed.',
    serviceId: 'The id of the service.',
    serviceName: 'Its name.',
    sessionType: 'Whether it was to be dialed or bound.',
    when: 'When it was asked for, RFC 3339.',
  },
)

const PostureData = described(z.object(ofAllTypes('reports')), ofAllTypes('reportWords'))

/** Operations on the reports of an identity's endpoints, and on its requests that posture refused. */
export const identityPostureOperations = [
  defineOperation(
    {
      route: 'GET /identities/{id}/posture-data',
      summary: 'Shows the posture data of an identity',
      description: 'A fact that was never reported is null.',
      access: { entity: 'identity', action: 'read' },
      data: PostureData,
    },
    async ({ engine, params }) => ({ data: await engine.posture.dataOf(params.id) }),
  ),
  defineOperation(
    {
      route: 'GET /identities/{id}/failed-service-requests',
      summary: 'Lists the last fifty service requests of an identity that posture refused, oldest first',
      description: 'Each with the posture checks that failed, what they expect and what was reported.',
      access: { entity: 'identity', action: 'read' },
      data: z.array(FailedServiceRequest),
    },
    async ({ engine, params }) => {
      const failed = await engine.posture.failedRequests(params.id)
      return { data: failed.map(({ request, when }) => ({ ...request, when: new Date(when) })) }
    },
  ),
] as const
