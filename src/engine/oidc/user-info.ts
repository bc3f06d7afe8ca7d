import { isAdministrator } from '../../domain/identity.ts'
import { identities } from '../../resources/identities/identities.ts'
import type { BearerSessions } from './bearer-sessions.ts'
import type { ProviderContext } from './tokens/provider-context.ts'

/** What the holder of an access token may know of its identity. */
export interface UserInfo {
  readonly sub: string
  readonly name?: string
  readonly z_ia?: boolean
  readonly z_eid?: string
}

/** Who holds an access token; `undefined` when it is not good. Name and rights need the scope `openid`. */
export async function userInfo(
  context: ProviderContext,
  sessions: BearerSessions,
  accessToken: string,
): Promise<UserInfo | undefined> {
  const token = await sessions.read(accessToken)
  const sub = token?.session.sub
  const identity = sub && (await context.storage.read((tx) => tx.collection(identities).get(sub)))
  if (!token || !identity) return undefined
  if (!token.session.scopes?.includes('openid')) return { sub: identity.id }
  const { id, name, externalId } = identity
  return { sub: id, name, z_ia: isAdministrator(identity), ...(externalId && { z_eid: externalId }) }
}
