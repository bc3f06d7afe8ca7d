import { z } from 'zod'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

/** Lets a router report whether it decides by the model that this controller holds. */
export const validateModelOperation = defineOperation(
  {
    route: 'POST /routers/{id}/validate-data-model',
    summary: 'Asks a router to compare the data model that it decides by with the one of this controller',
    description:
      'The model is read from the store anew. A change on its way to the router shows as a difference: ask again.',
    access: { entity: 'ops', action: 'update' },
    data: described(
      z.object({
        index: z.int(),
        differences: z.array(
          described(
            z.object({
              entityType: z.string(),
              entityId: z.string(),
              kind: z.enum(['added', 'modified', 'removed']),
              detail: z.string(),
            }),
            {
              entityType:
                'The subject, in the words of the router; `subscriber` for values that it derived for a client.',
              entityId: 'The id of the entity.',
              kind: 'Whether the router has what there is not, has it otherwise, or lacks it.',
              detail: 'The difference, in the words of the router.',
            },
          ),
        ),
        differenceCount: z.int(),
        notCompared: z.array(z.enum(['revocations', 'config-overrides'])),
      }),
      {
        index: 'The revision of the store that was compared.',
        differences: 'The first 1,000 differences; none when the router has what it should have.',
        differenceCount: 'How many there are.',
        notCompared:
          'The kinds that a router of its version cannot compare without ending; of revocations the ids are compared.',
      },
    ),
    errors: ['ENTITY_CAN_NOT_BE_UPDATED', 'TIMEOUT'],
  },
  async ({ engine, params }) => {
    const { differences, notCompared, ...rest } = await engine.dataPlane.validateModel(params.id)
    return { data: { ...rest, differences: [...differences], notCompared: [...notCompared] } }
  },
)
