import { ids } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import { readToken } from '../../../domain/oidc/claims.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { revocations } from '../../../resources/login/revocations.ts'
import type { EngineContext } from '../../context/context.ts'
import { isTakenBack } from '../../credentials/revoked-tokens.ts'
import { judgeToken } from '../../credentials/signing-keys.ts'
import { findOne } from '../../records/find-one.ts'
import { RouterRefusal } from '../routers/refusal.ts'

/** The API session that a client presented to a router. */
export interface PresentedApiSession {
  readonly id: string
  readonly identityId: string
  /** It is presented by signed tokens instead of one that was announced. */
  readonly isBearer: boolean
}

/** The service session that a client presented. */
export interface PresentedSession {
  readonly serviceId: string
  /** Undefined for one that stands in its token alone. */
  readonly storedId: string | undefined
}

/** How every JWT begins; tokens of stored API sessions are UUIDs. */
const JWT_START = 'ey'

/** The API session of a token. Throws {@link RouterRefusal} for one that is unknown, over, revoked or of a disabled identity. */
export async function requireApiSession(context: EngineContext, token: string): Promise<PresentedApiSession> {
  const session = token.startsWith(JWT_START)
    ? await bearerSession(context, token)
    : await storedSession(context, token)
  const now = context.clock.now()
  const identity = session && (await context.storage.read((tx) => tx.collection(identities).get(session.identityId)))
  if (session === undefined || identity === undefined || isDisabled(identity, now)) {
    throw new RouterRefusal('invalid-api-session', 'invalid api session')
  }
  return session
}

/** The service session of a token that belongs to an API session. Throws {@link RouterRefusal}. */
export async function requireSession(
  context: EngineContext,
  apiSession: PresentedApiSession,
  token: string,
  type: 'Dial' | 'Bind',
): Promise<PresentedSession> {
  const judgement = await judgeToken(context, token, context.clock.now())
  const claims = judgement.outcome === 'valid' ? judgement.claims : undefined
  if (claims?.z_t !== 's' || claims.z_asid !== apiSession.id || typeof claims.sub !== 'string') {
    throw new RouterRefusal('invalid-session', 'invalid session')
  }
  if (claims.z_st !== type) throw new RouterRefusal('wrong-session-type', 'incorrect session type')
  const isOwn = claims.z_iid === undefined || claims.z_iid === apiSession.identityId
  const sessionId = typeof claims.jti === 'string' ? claims.jti : ''
  if (apiSession.isBearer) {
    if (!isOwn || (await isRevoked(context, [sessionId]))) throw new RouterRefusal('invalid-session', 'invalid session')
    return { serviceId: claims.sub, storedId: undefined }
  }
  const stored = await context.storage.read((tx) => tx.collection(sessions).get(sessionId))
  if (!isOwn || stored?.apiSessionId !== apiSession.id || stored.type !== type) {
    throw new RouterRefusal('invalid-session', 'invalid session')
  }
  return { serviceId: stored.serviceId, storedId: stored.id }
}

async function storedSession(context: EngineContext, token: string): Promise<PresentedApiSession | undefined> {
  const digest = context.digest.sha256(token)
  const stored = await context.storage.read((tx) => findOne(tx, apiSessions, 'tokenDigest', digest))
  // What bearer tokens stand for has no token of this kind.
  if (stored === undefined || stored.tokensExpireAt !== null) return undefined
  return { id: stored.id, identityId: stored.identityId, isBearer: false }
}

async function bearerSession(context: EngineContext, token: string): Promise<PresentedApiSession | undefined> {
  const now = context.clock.now()
  const judgement = await judgeToken(context, token, now)
  const read = judgement.outcome === 'valid' ? readToken(judgement.claims) : undefined
  if (read?.type !== 'a') return undefined
  const isGone = await context.storage.read((tx) => isTakenBack(tx, read, now))
  return isGone ? undefined : { id: read.session.z_asid, identityId: read.session.sub, isBearer: true }
}

async function isRevoked(context: EngineContext, concerned: readonly string[]): Promise<boolean> {
  const now = context.clock.now()
  const { items } = await context.storage.read((tx) => tx.collection(revocations).find({ where: ids(concerned) }))
  return items.some(({ expiresAt }) => now < expiresAt)
}
