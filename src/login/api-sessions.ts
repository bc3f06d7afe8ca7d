import { z } from 'zod'
import { ControllerError, notFound } from '../base/errors.ts'
import { instant } from '../base/time.ts'
import type { Call, Caller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { type ApiSessionValidity, apiSessionValidity, callerOfSession } from '../credentials/api-session-validity.ts'
import { withKeptProof } from '../credentials/external-logins.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { byHost, dueAtOf } from '../facts/credentials/login-basis.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { type AuthQuery, apiSessions } from '../facts/login/api-session.resource.ts'
import { type DirectorySearch, DirectorySearchRequest } from '../facts/network/host-directory.ts'
import type { ReadToken } from '../facts/oidc/token-claims.rules.ts'
import { identityOf, makeIdentityOf } from '../identities/claimed-identities.ts'
import { askDirectory } from '../identities/directory-answers.ts'
import { readId, readText, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { findOne } from '../records/read-records.ts'
import { endAllWithdrawn, endWithdrawn, SessionActivity, SessionEnds } from './api-session-ends.ts'
import { readClientInfo, type SentClientInfo, type Start, startApiSession } from './api-session-start.ts'

/**
 * API sessions: started by an authentication, kept alive by use, ended by logout, by {@link EngineSettings.apiSessionTimeoutMs}
 * without use, or with the identity or authenticator behind them. Service sessions end with their API session.
 */
export class ApiSessions {
  readonly #context: EngineContext
  readonly #activity: SessionActivity
  readonly #ends: SessionEnds

  constructor(context: EngineContext) {
    this.#context = context
    this.#activity = new SessionActivity(context)
    this.#ends = new SessionEnds(context, this.#activity)
  }

  /** Milliseconds without use after which an API session ends. */
  get timeoutMs(): number {
    return this.#context.settings.apiSessionTimeoutMs
  }

  /** Makes the members that only the holder of an API session sees: its token, the factors to be proved, and when it ends. */
  ownMembers(caller: Caller) {
    return currentApiSessionMembers(this.#context, caller)
  }

  /**
   * Starts an API session for an identity that the host has authenticated by its own means. A person without an identity gets it where the
   * directory of the host finds the person.
   *
   * @throws {ControllerError} UNAUTHORIZED when the call is no system call.
   * @throws {ControllerError} NOT_FOUND when there is no such identity.
   * @throws {ControllerError} INVALID_AUTH when it is disabled.
   *
   * @example
   * const caller = await engine.host.startSession(identity.id)
   * await engine.sessions.create({ by: 'caller', caller }, { serviceId: service.id, type: 'Dial' })
   */
  async startFor(call: Call, who: string | DirectorySearch, sent: SentClientInfo = {}): Promise<Caller> {
    const client = readClientInfo(sent)
    if (typeof who === 'string') readId(who, 'identity')
    else readValue('identity', DirectorySearchRequest, who)
    if (call.by !== 'system') throw new ControllerError('UNAUTHORIZED')
    const find = () =>
      this.#context.storage.read((tx) =>
        typeof who === 'string' ? tx.collection(identities).get(who) : identityOf(tx, who),
      )
    const known = await find()
    const isMade = known === undefined && typeof who === 'object' && (await makeIdentityOf(this.#context, call, who))
    const identity = isMade ? await find() : known
    if (identity === undefined) throw notFound('identity', typeof who === 'string' ? who : Object.values(who).join())
    const { directory } = this.#context.host
    if (directory !== undefined) await askDirectory(this.#context, directory, identity)
    return this.start(call, { identity }, { ...byHost(), client })
  }

  /**
   * Starts an API session. The identity is looked at again inside the write, so that no session outlives its identity.
   *
   * @throws {ControllerError} INVALID_AUTH when the identity is gone or disabled.
   */
  start(call: Call, who: { readonly identity: RecordOf<typeof identities> }, start: Start): Promise<Caller> {
    return startApiSession(this.#context, call, who, start)
  }

  /** The holder of a token; `undefined` for a token that is unknown, expired, or of a disabled identity. Counts as use. */
  async resolve(token: string, bearerTokens: readonly string[] = []): Promise<Caller | undefined> {
    readText('token', token)
    const tokenDigest = this.#context.digest.sha256(token)
    return this.#holder(token, bearerTokens, (tx) => findOne(tx, apiSessions, 'tokenDigest', tokenDigest))
  }

  /** Counts the API sessions of tokens as used, because routers hold connections of them; answers the tokens without a session. */
  async keepAlive(tokens: readonly string[]): Promise<readonly string[]> {
    readValue('tokens', z.array(z.string()), tokens)
    const { storage, digest, clock, turns } = this.#context
    const now = clock.now()
    const turn = turns.begin()
    const unknown: string[] = []
    for (const token of tokens) {
      const judged = await storage.read(async (tx) => {
        const stored = await findOne(tx, apiSessions, 'tokenDigest', digest.sha256(token))
        return stored && { id: stored.id, ...(await this.#judge(tx, stored, now)) }
      })
      if (judged?.is === 'over') await this.#ends.endForGood(judged.id)
      // A session of a disabled identity is kept until that is decided: it ends with the disabling.
      if (judged === undefined || judged.is === 'over') unknown.push(token)
      else await this.#activity.touch(judged.id, now)
      await turn()
    }
    return unknown
  }

  /**
   * The holder of a verified access token, as long as its session and its identity exist. `mayUse` judges them once
   * more in the same snapshot. Counts as use.
   */
  async resolveToken(
    { session: { z_asid: id, sub }, ...accessToken }: ReadToken,
    token: string,
    bearerTokens: readonly string[],
    mayUse: (tx: ReadTransaction) => Promise<boolean>,
  ): Promise<Caller | undefined> {
    const find = async (tx: ReadTransaction) => {
      const stored = await tx.collection(apiSessions).get(id)
      const isTheirs = stored !== undefined && stored.tokensExpireAt !== null && stored.identityId === sub
      return isTheirs && (await mayUse(tx)) ? stored : undefined
    }
    const caller = await this.#holder(token, bearerTokens, find)
    return caller && { ...caller, accessToken }
  }

  /** The holder of the API session that `find` finds, which is being used. */
  async #holder(
    token: string,
    bearerTokens: readonly string[],
    find: (tx: ReadTransaction) => Promise<RecordOf<typeof apiSessions> | undefined>,
  ): Promise<Caller | undefined> {
    const now = this.#context.clock.now()
    let ended: string | undefined
    const readCaller = async (tx: ReadTransaction) => {
      ended = undefined
      const stored = await find(tx)
      if (stored === undefined) return undefined
      this.#context.otherClocks.seen(stored.lastActivityAt)
      const validity = await this.#judge(tx, stored, now)
      if (validity.is === 'over') ended = stored.id
      if (validity.is !== 'underway') return undefined
      const lastActivityAt = Math.max(now, this.#activity.lastActivityAt(stored))
      return callerOfSession(tx, { ...stored, lastActivityAt }, validity, token)
    }
    const caller = await this.#context.storage.read(readCaller, { mayBeginAgain: true })
    // A session that has ended must not begin again when the clock goes back, or trust is restored.
    if (ended !== undefined) await this.#ends.endForGood(ended)
    if (caller === undefined) return undefined
    await this.#activity.touch(caller.apiSession.id, now)
    return withKeptProof(this.#context, caller, bearerTokens)
  }

  /** How a stored API session stands now, and when (epoch ms) it is over unless it is used again. */
  async validity(tx: ReadTransaction, stored: RecordOf<typeof apiSessions>) {
    const { clock, settings } = this.#context
    const now = clock.now()
    const lastActivityAt = this.#activity.lastActivityAt(stored)
    const dueAt = dueAtOf({ ...stored, lastActivityAt }, settings, now)
    return { validity: await this.#judge(tx, stored, now), dueAt }
  }

  #judge(tx: ReadTransaction, stored: RecordOf<typeof apiSessions>, now: number): Promise<ApiSessionValidity> {
    const lastActivityAt = this.#activity.lastActivityAt(stored)
    return apiSessionValidity(this.#context, tx, { ...stored, lastActivityAt }, now)
  }

  /** Ends an API session with its service sessions. */
  async end(call: Call, id: string): Promise<void> {
    return this.#ends.end(call, readId(id))
  }

  /** Ends every API session that is over by time, whichever process began it. Answers when (epoch ms) the next one is due. */
  endOverdue(): Promise<number | undefined> {
    return this.#ends.endOverdue()
  }

  /** Ends the sessions whose credentials a committed write withdrew, and forgets what this process remembers of ended sessions. */
  async follow({ changes }: RecordedWrite): Promise<void> {
    for (const { operation, id } of changesTo(changes, apiSessions)) {
      if (operation === 'delete') this.#activity.forget(id)
    }
    await endWithdrawn(this.#context, this.#ends, changes)
  }

  /** Ends every API session on withdrawn credentials. */
  endAllWithdrawn(): Promise<void> {
    return endAllWithdrawn(this.#context, this.#ends)
  }
}

/** API sessions are shown to others without their token, which only its holder knows. */
export const apiSessionBehaviour: Behaviour<typeof apiSessions> = {
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
function currentApiSessionMembers(context: EngineContext, caller: Caller) {
  const { accessToken } = caller
  return {
    _links: { self: { href: './current-api-session' }, 'current-identity': { href: './current-identity' } },
    authQueries: authQueriesOf(caller),
    token: caller.token,
    ...(accessToken === undefined ? idleMembers(context, caller) : tokenMembers(context, accessToken)),
  }
}

/** A session of `zt-session` ends after a time without use. */
function idleMembers({ settings }: EngineContext, { apiSession }: Caller) {
  const { apiSessionTimeoutMs } = settings
  return {
    expirationSeconds: Math.floor(apiSessionTimeoutMs / 1000),
    expiresAt: instant(apiSession.lastActivityAt + apiSessionTimeoutMs),
  }
}

/** A session that is made of tokens looks as its access token does. */
function tokenMembers({ clock }: EngineContext, token: NonNullable<Caller['accessToken']>) {
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
