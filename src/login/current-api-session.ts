import { instant } from '../base/time.ts'
import { authenticators } from '../credentials/authenticator.resource.ts'
import type { Caller } from '../kernel/context/call.ts'
import type { EngineContext } from '../kernel/context/context.ts'
import { ids } from '../kernel/filter/index.ts'
import type { Behaviour } from '../kernel/records/behaviour.ts'
import { type ApiSessions, type AuthQuery, apiSessions } from './api-session.resource.ts'

/** API sessions are shown to others without their token, which only its holder knows. */
export const apiSessionBehaviour: Behaviour<ApiSessions> = {
  resource: apiSessions,

  async members(_context, tx, _call, records) {
    const { items } = await tx
      .collection(authenticators)
      .find({ where: ids(records.map(({ authenticatorId }) => authenticatorId)) })
    const known = new Map(items.map((authenticator) => [authenticator.id, authenticator]))
    return records.map(({ lastActivityAt, authenticatorId }) => ({
      authQueries: [],
      cachedLastActivityAt: instant(lastActivityAt),
      token: '',
      isCertExtendRequested: known.get(authenticatorId)?.isExtendRequested || undefined,
      isCertKeyRollRequested: known.get(authenticatorId)?.isKeyRollRequested || undefined,
    }))
  },
}

/** Makes the members that the holder of an API session sees besides: its token, the factors to be proved, and when it ends. */
export function currentApiSessionMembers(context: Pick<EngineContext, 'clock' | 'settings'>, caller: Caller) {
  const { accessToken } = caller
  return {
    _links: {
      self: { href: './current-api-session' },
      'current-identity': { href: './current-identity' },
    },
    authQueries: authQueriesOf(caller),
    token: caller.token,
    ...(accessToken === undefined ? idleMembers(context, caller) : tokenMembers(context, accessToken)),
  }
}

/** A session of `zt-session` ends when nobody uses it. */
function idleMembers({ settings }: Pick<EngineContext, 'settings'>, { apiSession }: Caller) {
  const { apiSessionTimeoutMs } = settings
  return {
    expirationSeconds: Math.floor(apiSessionTimeoutMs / 1000),
    expiresAt: instant(apiSession.lastActivityAt + apiSessionTimeoutMs),
  }
}

/** A session that is made of tokens looks as its access token does. */
function tokenMembers({ clock }: Pick<EngineContext, 'clock'>, token: NonNullable<Caller['accessToken']>) {
  const { issuedAt, expiresAt } = token
  return {
    createdAt: instant(issuedAt * 1000),
    updatedAt: instant(issuedAt * 1000),
    expirationSeconds: Math.max(0, Math.floor(expiresAt - clock.now() / 1000)),
    expiresAt: instant(expiresAt * 1000),
  }
}

function authQueriesOf({ missing: { totp, signer } }: Caller): readonly AuthQuery[] {
  const queries: AuthQuery[] = []
  if (totp !== undefined) queries.push({ ...TOTP_QUERY, isTotpEnrolled: totp.isEnrolled })
  if (signer !== undefined) {
    const { id, clientId, externalAuthUrl, scopes } = signer
    const known = { ...(clientId && { clientId }), ...(externalAuthUrl && { httpUrl: externalAuthUrl }) }
    queries.push({ typeId: 'EXT-JWT', provider: 'url', id, scopes: [...scopes], ...known })
  }
  return queries
}

const TOTP_QUERY = {
  typeId: 'MFA',
  provider: 'ziti',
  format: 'numeric',
  httpMethod: 'POST',
  httpUrl: './authenticate/mfa',
  minLength: 4,
  maxLength: 6,
  scopes: null,
} as const
