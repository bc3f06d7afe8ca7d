import { z } from 'zod'
import { Id, Instant, narrowed } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

/** A role attribute for some time, as an identity shows it. */
export const AttributeGrantSchema = described(
  z.object({
    id: Id,
    attribute: z.string(),
    startsAt: z.iso.datetime().nullable(),
    until: z.iso.datetime(),
    reason: z.string().nullable(),
    givenBy: z.string().nullable(),
    phase: z.enum(['coming', 'in-force']),
  }),
  {
    id: 'The id of the grant.',
    attribute: 'The role attribute.',
    startsAt: 'When it begins, RFC 3339; null where it began at once.',
    until: 'When it ends, RFC 3339.',
    reason: 'Why it is given, for people; null without a reason.',
    givenBy: 'The name of the identity that gave it; null for the controller and its host.',
    phase: 'Whether the identity has the role attribute: `coming` or `in-force`. A grant that is over is gone.',
  },
)

/** A role attribute to be given for some time. */
export interface AttributeGrantCreate {
  /** 1 to 1,024 characters that do not begin with `#` or `@`. */
  readonly attribute: string
  /** RFC 3339. Default: at once. */
  readonly startsAt?: string | undefined
  /** RFC 3339. */
  readonly until: string
  /** Why, for people: at most 1,024 characters. */
  readonly reason?: string | undefined
}

/** POST /identities/{id}/attribute-grants. */
export const AttributeGrantRequest = narrowed<AttributeGrantCreate>()(
  described(
    z.object({
      attribute: z.string().min(1).max(1024),
      startsAt: Instant.optional(),
      until: Instant,
      reason: z.string().max(1024).optional(),
    }),
    {
      attribute: 'The role attribute: 1 to 1,024 characters that do not begin with `#` or `@`.',
      startsAt: 'When it begins, RFC 3339; at once where it is left out.',
      until: 'When it ends, RFC 3339, in the future.',
      reason: 'Why, for people: at most 1,024 characters.',
    },
  ),
)
