import type { EngineContext } from '../context/context.ts'
import { newAuthenticator } from '../credentials/new-authenticator.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { identities, PLAIN_IDENTITY } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'

type Identity = RecordOf<typeof identities>

/** The administrator that a network begins with; undefined where there is none. */
export async function defaultAdminIn(tx: ReadTransaction) {
  const { items } = await tx.collection(identities).find({
    where: { kind: 'compare', operand: { kind: 'field', field: 'isDefaultAdmin' }, operator: '=', value: true },
    limit: 1,
  })
  return items[0]
}

/** Makes the default admin, with a username and the verifier of its password. */
export async function insertDefaultAdmin(
  context: EngineContext,
  tx: WriteTransaction,
  username: string,
  passwordHash: string,
  now: number,
): Promise<Identity> {
  const id = context.random.id()
  const identity = newRecord(id, now, {
    ...PLAIN_IDENTITY,
    name: 'Default Admin',
    typeId: 'Default',
    isAdmin: true,
    isDefaultAdmin: true,
  })
  await tx.collection(identities).insert(identity)
  await tx.collection(authenticators).insert(newAuthenticator(context, id, { username, passwordHash }, now))
  return identity
}
