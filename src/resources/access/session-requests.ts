import { z } from 'zod'
import { Id, Tags } from '../declaration/fields.ts'
import { narrowed } from '../declaration/narrowed.ts'
import { described } from '../declaration/words.ts'

/** What is sent to get a session. */
export interface SessionCreate {
  readonly serviceId: string
  /** `Dial` by default. */
  readonly type?: 'Dial' | 'Bind'
  readonly tags?: Readonly<Record<string, unknown>>
}

/** POST /sessions. */
export const SessionCreation = narrowed<SessionCreate>()(
  described(
    z.object({
      serviceId: Id.default(''),
      type: z.enum(['Dial', 'Bind', 'Invalid']).default('Dial'),
      tags: Tags.default({}),
    }),
    {
      serviceId: 'The id of the service.',
      type: 'Whether to connect to it (`Dial`, the default) or to host it (`Bind`).',
    },
  ),
)
