import { z } from 'zod'
import { InspectionBody } from '../../facts/fabric/inspection.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

/** Shows the state of routers and of the controller. */
export const inspectionOperation = defineOperation(
  {
    route: 'POST /inspections',
    summary: 'Asks routers and the controller for values of their state',
    description:
      'Answers after 10 s at the latest; routers that did not answer by then are told as errors. Asked are the routers that are connected to this process.',
    access: { entity: 'ops', action: 'read', asksOthers: true },
    body: InspectionBody,
    produces: 'application/json',
    isLong: true,
    data: described(
      z.object({
        success: z.boolean(),
        errors: z.array(z.string()),
        values: z.array(
          described(z.object({ appId: z.string(), name: z.string(), value: z.unknown() }), {
            appId: 'The id of the router or the controller.',
            name: 'The name of the value, as it was asked for.',
            value: 'The value: an object, a list, or a text.',
          }),
        ),
      }),
      {
        success: 'True when nobody told an error.',
        errors: 'The ids of the parties that could not answer a value, and why.',
        values: 'Who told what.',
      },
    ),
  },
  async ({ engine, request }) => {
    const { errors, values } = await engine.dataPlane.inspect(request)
    return {
      data: {
        success: errors.length === 0,
        errors: [...errors],
        values: values.map(({ appId, name, value }) => ({ appId, name, value: parsed(value) })),
      },
    }
  },
)

/** The value of a text that holds a JSON object or list; other texts as they are. */
function parsed(text: string): unknown {
  if (!text.startsWith('{') && !text.startsWith('[')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
