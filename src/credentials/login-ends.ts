import { equals } from '../kernel/filter/index.ts'
import { deleteEach } from '../kernel/records/deletion.ts'
import type { MORE, WriteBatch } from '../kernel/records/write-batches.ts'
import { apiSessions } from '../login/api-session.resource.ts'
import { authRequests } from '../oidc/auth-request.resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'

/** Ends the API sessions of an identity or an authenticator, with their service sessions, as far as a batch goes. */
export function endApiSessions(
  tx: WriteTransaction,
  of: 'identityId' | 'authenticatorId',
  id: string,
  batch: WriteBatch,
): Promise<undefined | typeof MORE> {
  return deleteEach(tx, apiSessions, equals(of, id), batch)
}

/** Ends the logins of an identity that are under way, of which there are few: none of their codes is good any more. */
export async function endLoginsUnderWay(tx: WriteTransaction, identityId: string): Promise<void> {
  for (const id of await tx.collection(authRequests).findIds({ where: equals('identityId', identityId) })) {
    await tx.collection(authRequests).delete(id)
  }
}
