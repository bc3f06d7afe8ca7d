import { z } from 'zod'
import { instant, toGoDuration } from '../../base/time.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import type { Operation } from '../../http/operations/operation.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { StorageLook } from '../../network/database/database-snapshots.ts'

const Check = described(
  z.object({
    consecutiveFailures: z.int().optional(),
    err: z.string().optional(),
    failingSince: z.iso.datetime().optional(),
    healthy: z.boolean(),
    id: z.string(),
    lastCheckDuration: z.string().optional(),
    lastCheckTime: z.iso.datetime().optional(),
  }),
  {
    consecutiveFailures: 'How often in a row it failed; absent while it is well.',
    err: 'The fault; absent while it is well.',
    failingSince: 'Since when it fails, RFC 3339; absent while it is well.',
    healthy: 'Whether it is well.',
    id: 'The subject of the check: `bolt.read`, whether the database can be read, whichever it is.',
    lastCheckDuration: 'How long the look took, as `1.5s` or `12ms`; absent from the short form.',
    lastCheckTime: 'When it was last looked at, RFC 3339; absent from the short form.',
  },
)

const Health = described(z.object({ checks: z.array(Check), healthy: z.boolean() }), {
  checks: 'The checks, a second old at most.',
  healthy: 'Whether all of it is well.',
})

const Meta = described(z.object({}), {})
const Raft = described(z.object({ isLeader: z.boolean(), isRaftEnabled: z.boolean() }), {
  isLeader: 'Always false: no controller leads the others.',
  isRaftEnabled: 'Always false: controllers agree by their database.',
})

const SHAPE = {
  summary: 'Tells whether the controller is well',
  description:
    'The status is 200 in any case: `healthy` says it. Found at `/health-checks` and every path below it, too.',
  access: 'public',
  query: described(z.object({ type: z.string().optional() }), {
    type: '`short` for `id` and `healthy` of each check alone.',
  }),
  produces: 'application/json',
} as const

const WORDS = { data: 'How the controller is.', meta: 'Always empty.' } as const

/** Health checks for monitors and load balancers, in the form of deployed controllers. They need no typed client. */
export const healthCheckOperations: readonly Operation[] = [
  defineOperation(
    { ...SHAPE, route: 'GET /health-checks', data: described(z.object({ data: Health, meta: Meta }), WORDS) },
    async ({ engine, query }) => ({
      data: { data: healthOf(await engine.storageHealth.look(), query.type), meta: {} },
    }),
  ),
  defineOperation(
    {
      ...SHAPE,
      route: 'GET /health-checks/controller/raft',
      summary: 'Tells whether the controller is well, and whether it leads others',
      data: described(z.object({ data: Health, meta: Meta, raft: Raft }), {
        ...WORDS,
        raft: 'How controllers agree with each other.',
      }),
    },
    async ({ engine, query }) => {
      const raft = { isLeader: false, isRaftEnabled: false }
      return { data: { data: healthOf(await engine.storageHealth.look(), query.type), meta: {}, raft } }
    },
  ),
]

function healthOf(look: StorageLook, type: string | undefined) {
  const { isHealthy, at, durationMs, failures, failingSince } = look
  const short = { healthy: isHealthy, id: 'bolt.read' }
  const failure = isHealthy ? {} : { err: 'the database cannot be read', consecutiveFailures: failures }
  const check = {
    ...short,
    lastCheckDuration: toGoDuration(durationMs),
    lastCheckTime: instant(at),
    ...failure,
    ...(failingSince !== undefined && { failingSince: instant(failingSince) }),
  }
  return { checks: [type === 'short' ? short : check], healthy: isHealthy }
}
