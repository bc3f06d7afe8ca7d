import { z } from 'zod'
import { Links, Tags } from './fields.ts'

const QueriedProcess = z.object({ osType: z.string(), path: z.string() })

/** What a client is asked to report for one posture check (interface: Service). */
const PostureQuery = z.object({
  _links: Links,
  createdAt: z.iso.datetime(),
  id: z.string(),
  tags: Tags,
  updatedAt: z.iso.datetime(),
  isPassing: z.boolean(),
  process: QueriedProcess.optional(),
  processes: z.array(QueriedProcess).nullable(),
  promptGracePeriodSeconds: z.int().optional(),
  promptOnUnlock: z.boolean().optional(),
  promptOnWake: z.boolean().optional(),
  queryType: z.string(),
  timeout: z.int(),
  timeoutAt: z.iso.datetime().optional(),
  timeoutRemaining: z.int(),
})

/** The posture queries of one service policy that grants the service to the caller. */
export const PostureQueries = z.object({
  isPassing: z.boolean(),
  policyId: z.string(),
  policyType: z.enum(['Dial', 'Bind', 'Invalid']),
  postureQueries: z.array(PostureQuery),
})
