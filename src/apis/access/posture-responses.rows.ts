import { z } from 'zod'
import { PostureResponse } from '../../facts/access/posture/posture-check.resource.ts'
import { RESPONSE_KINDS } from '../../facts/access/posture/rules/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

const Affected = described(
  z.object({
    services: z.array(
      described(
        z.object({
          id: z.string(),
          name: z.string(),
          postureQueryType: z.string(),
          timeout: z.int(),
          timeoutRemaining: z.int(),
        }),
        {
          id: 'The id of the service.',
          name: 'The name of the service.',
          postureQueryType: 'The type of the posture check that will fail.',
          timeout: 'The seconds for which a code is good by that check; -1 for ever.',
          timeoutRemaining: 'The seconds until the check fails without a new code.',
        },
      ),
    ),
  }),
  { services: 'The services that the caller will lose unless it proves its second factor again.' },
)

/** Reports of an endpoint about its state: one at a time, or many at once. */
export const postureResponseOperations = [
  defineOperation(
    {
      route: 'POST /posture-response',
      summary: 'Takes one posture response',
      description:
        'Sessions that it takes the ground from end before the answer. The answer lists services only after an unlock or wake.',
      access: 'authenticated',
      body: PostureResponse,
      spellings: postureResponseSpellings,
      data: Affected,
      status: 201,
    },
    async ({ engine, call, body }) => ({ data: { services: await engine.posture.submit(call, [body]) } }),
  ),
  defineOperation(
    {
      route: 'POST /posture-response-bulk',
      summary: 'Takes posture responses, in order',
      description:
        'Sessions that they take the ground from end before the answer. The answer lists services only after an unlock or wake.',
      access: 'authenticated',
      body: z.array(PostureResponse).max(1000),
      spellings: postureResponseSpellings,
      data: Affected,
      deployedStatus: 201,
    },
    async ({ engine, call, body }) => ({ data: { services: await engine.posture.submit(call, body) } }),
  ),
] as const

/** `postureResponseDomainCreate` and its siblings are other documented names of the types. */
const TYPE_IDS: ReadonlyMap<unknown, string> = new Map(
  RESPONSE_KINDS.map(({ schemaName, typeId }) => [`postureResponse${schemaName}Create`, typeId]),
)

function postureResponseSpellings(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const typeId = TYPE_IDS.get(body.typeId)
  return typeId === undefined ? body : { ...body, typeId }
}
