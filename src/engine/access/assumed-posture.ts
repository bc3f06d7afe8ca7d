import { equals } from '../../domain/filter/index.ts'
import { applyResponses, type PostureData, type PostureResponse, recordMfaPass } from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { postureDataOf } from '../posture/posture-of.ts'

/** Stands for the API session of an identity that has none, so that a reported state has somebody to belong to. */
const NO_API_SESSION = ''

/** What is taken to be so, on top of what is known. */
export interface Assumed {
  readonly posture?: readonly PostureResponse[] | undefined
  readonly mfa?: boolean | undefined
}

/** The id of the API session that an identity began last. */
export async function newestApiSession(tx: ReadTransaction, identityId: string): Promise<string | undefined> {
  const { items } = await tx.collection(apiSessions).find({
    where: equals('identityId', identityId),
    orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'desc' }],
    limit: 1,
  })
  return items[0]?.id
}

/** What is known of the endpoints of an identity, as if it had reported something more, and proved a second factor, at `at`. */
export async function postureAt(
  tx: ReadTransaction,
  identityId: string | undefined,
  apiSessionId: string = NO_API_SESSION,
  { posture: responses = [], mfa = false }: Assumed,
  at: number,
): Promise<PostureData> {
  const known = await postureDataOf(tx, identityId ?? '', apiSessionId)
  const reported = responses.length === 0 ? known : applyResponses(known, apiSessionId, responses, at)
  return mfa ? recordMfaPass(reported, apiSessionId, at) : reported
}
