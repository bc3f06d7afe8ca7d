import type { EngineContext } from '../../context/context.ts'
import { judgeToken } from '../../credentials/signing-keys.ts'
import { sessions } from '../../facts/access/session.resource.ts'
import { isAccessToken } from '../../facts/data-plane/edge/session-admission.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import { revocations } from '../../facts/login/revocation.resource.ts'
import { type ReadToken, readToken } from '../../facts/oidc/token-claims.rules.ts'
import { ids } from '../../kernel/filter/index.ts'
import { isTakenBack } from '../../login/revocations.ts'
import type { Claims } from '../../ports/credentials.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { findOne } from '../../records/read-records.ts'
import { RouterRefusal } from '../channels/channel-admission.ts'

/** The API session that a client presented to a router. */
export interface PresentedApiSession {
  readonly id: string
  readonly identityId: string
}

/** The service session that a client presented. */
export interface PresentedSession {
  readonly serviceId: string
  /** Undefined for a session that exists only in its token. */
  readonly storedId: string | undefined
}

/** The tokens that a client presented, as far as signatures tell: its identity and its rights are judged in a snapshot. */
export interface PresentedTokens {
  /** The claims of its access token, or the token of a stored API session. */
  readonly apiSession: { readonly read: ReadToken | undefined } | { readonly token: string }
  /** The claims of the token of its service session; undefined without a token. */
  readonly session: Claims | undefined
}

/** Verifies the tokens that a client presented to a router. */
export async function verifyPresented(
  context: EngineContext,
  apiSessionToken: string,
  sessionToken: string | undefined,
): Promise<PresentedTokens> {
  const verify = async (token: string) => {
    const judgement = await judgeToken(context, token, context.clock.now())
    return judgement.outcome === 'valid' ? judgement.claims : undefined
  }
  const session = sessionToken === undefined ? undefined : ((await verify(sessionToken)) ?? {})
  if (!isAccessToken(apiSessionToken)) return { apiSession: { token: apiSessionToken }, session }
  const claims = await verify(apiSessionToken)
  const read = claims === undefined ? undefined : readToken(claims)
  return { apiSession: { read: read?.type === 'a' ? read : undefined }, session }
}

/** Finds the API session of presented tokens. Throws {@link RouterRefusal} for an unknown or revoked session. */
export async function requireApiSession(
  context: EngineContext,
  tx: ReadTransaction,
  { apiSession }: PresentedTokens,
): Promise<PresentedApiSession> {
  const session =
    'token' in apiSession
      ? await storedSession(context, tx, apiSession.token)
      : await bearerSession(context, tx, apiSession.read)
  if (session === undefined) throw new RouterRefusal('invalid-api-session', 'invalid api session')
  return session
}

/** Finds the service session that was presented with an API session. Throws {@link RouterRefusal}. */
export async function requireSession(
  context: EngineContext,
  tx: ReadTransaction,
  apiSession: PresentedApiSession,
  { session: claims, ...presented }: PresentedTokens,
  type: 'Dial' | 'Bind',
): Promise<PresentedSession> {
  if (claims?.z_t !== 's' || claims.z_asid !== apiSession.id || typeof claims.sub !== 'string') throw invalidSession()
  if (claims.z_st !== type) throw new RouterRefusal('wrong-session-type', 'incorrect session type')
  if (claims.z_iid !== undefined && claims.z_iid !== apiSession.identityId) throw invalidSession()
  const sessionId = typeof claims.jti === 'string' ? claims.jti : ''
  const isBearer = 'read' in presented.apiSession
  if (isBearer) {
    if (await isRevoked(context, tx, sessionId)) throw invalidSession()
    return { serviceId: claims.sub, storedId: undefined }
  }
  const stored = await tx.collection(sessions).get(sessionId)
  if (stored?.apiSessionId !== apiSession.id || stored.type !== type) throw invalidSession()
  return { serviceId: stored.serviceId, storedId: stored.id }
}

async function storedSession(
  context: EngineContext,
  tx: ReadTransaction,
  token: string,
): Promise<PresentedApiSession | undefined> {
  const stored = await findOne(tx, apiSessions, 'tokenDigest', context.digest.sha256(token))
  // A session of bearer tokens has no token of this kind.
  if (stored === undefined || stored.tokensExpireAt !== null) return undefined
  return { id: stored.id, identityId: stored.identityId }
}

async function bearerSession(
  context: EngineContext,
  tx: ReadTransaction,
  read: ReadToken | undefined,
): Promise<PresentedApiSession | undefined> {
  if (read === undefined || (await isTakenBack(tx, read, context.clock.now()))) return undefined
  return { id: read.session.z_asid, identityId: read.session.sub }
}

function invalidSession(): RouterRefusal {
  return new RouterRefusal('invalid-session', 'invalid session')
}

async function isRevoked(context: EngineContext, tx: ReadTransaction, sessionId: string): Promise<boolean> {
  const now = context.clock.now()
  const { items } = await tx.collection(revocations).find({ where: ids([sessionId]) })
  return items.some(({ expiresAt }) => now < expiresAt)
}
