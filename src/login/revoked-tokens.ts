import { ids } from '../kernel/filter/index.ts'
import { isRevoked } from '../oidc/grants/refresh-tokens.rules.ts'
import type { ReadToken } from '../oidc/token-claims.rules.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { revocations } from './revocation.resource.ts'

/** The claims of a token by which one finds whether it was taken back. */
type TokenInQuestion = Pick<ReadToken, 'jti' | 'issuedAt'> & {
  readonly session: Pick<ReadToken['session'], 'z_asid' | 'sub'>
}

/** Reports whether a token was taken back at `now` (epoch ms): by itself, with its session, or with its identity. */
export async function isTakenBack(
  tx: ReadTransaction,
  { jti, issuedAt, session }: TokenInQuestion,
  now: number,
): Promise<boolean> {
  const named = [jti, session.z_asid, session.sub]
  const { items } = await tx.collection(revocations).find({ where: ids(named) })
  const issuedFor = { jti, issuedAt, apiSessionId: session.z_asid, identityId: session.sub }
  return isRevoked(issuedFor, items, now)
}
