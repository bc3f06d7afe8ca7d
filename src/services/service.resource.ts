import { z } from 'zod'
import { Links, Tags } from '../declaration/fields.ts'
import { described } from '../declaration/words.ts'

const QueriedProcess = described(z.object({ osType: z.string(), path: z.string() }), {
  osType: 'The operating system that the process is asked for on.',
  path: 'The path of its binary.',
})

/** What a client is asked to report for one posture check. */
const PostureQuery = described(
  z.object({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: z.string(),
    tags: Tags,
    updatedAt: z.iso.datetime(),
    isPassing: z.boolean(),
    process: QueriedProcess.optional(),
    processes: z.array(QueriedProcess),
    promptGracePeriodSeconds: z.int().optional(),
    promptOnUnlock: z.boolean().optional(),
    promptOnWake: z.boolean().optional(),
    queryType: z.string(),
    timeout: z.int(),
    timeoutAt: z.iso.datetime().optional(),
    timeoutRemaining: z.int(),
  }),
  {
    _links: 'Where the posture check is found.',
    createdAt: 'When the posture check was created, RFC 3339.',
    id: 'The id of the posture check, which responses repeat.',
    tags: 'The tags of the posture check.',
    updatedAt: 'When the posture check or, for `MFA`, what it judges last changed, RFC 3339.',
    isPassing: 'Whether the posture check passes at present.',
    process: 'The process to report, for `PROCESS`; absent otherwise.',
    processes: 'The processes to report, for `PROCESS_MULTI`; empty otherwise.',
    promptGracePeriodSeconds:
      'The seconds for which a check goes on passing after an unlock or wake; absent when not told.',
    promptOnUnlock: 'True when a code is needed after the endpoint is unlocked; absent otherwise.',
    promptOnWake: 'True when a code is needed after the endpoint wakes; absent otherwise.',
    queryType: 'What to report: the `typeId` of the posture check.',
    timeout: 'The seconds for which a report is good; -1 for ever.',
    timeoutAt: 'When the check fails without a new report, RFC 3339; absent when it does not.',
    timeoutRemaining: 'The seconds until then; -1 when the check does not fail by itself.',
  },
)

/** The posture queries of one service policy that grants the service to the caller. */
export const PostureQueries = described(
  z.object({
    isPassing: z.boolean(),
    policyId: z.string(),
    policyType: z.enum(['Dial', 'Bind', 'Invalid']),
    postureQueries: z.array(PostureQuery),
  }),
  {
    isPassing: 'Whether all posture checks of the policy pass at present, so that it grants the service.',
    policyId: 'The id of the service policy; a text for people where no service policy stands behind the entry.',
    policyType: 'What the policy grants.',
    postureQueries: 'What to report for each posture check of the policy; empty when it has none.',
  },
)
