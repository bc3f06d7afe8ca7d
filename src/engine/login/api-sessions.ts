import { z } from 'zod'
import { ControllerError, notFound } from '../../domain/errors.ts'
import { isDisabled } from '../../domain/identity.ts'
import { standingOf } from '../../domain/login/api-session-end.ts'
import type { ReadToken } from '../../domain/oidc/claims.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { readId, readText, readValue } from '../../resources/requests/read-body.ts'
import type { Call, Caller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { withSignerProof } from '../credentials/external-logins.ts'
import { findOne } from '../records/find-one.ts'
import { SessionActivity } from './api-session-activity.ts'
import { callerOfSession } from './api-session-caller.ts'
import { SessionEnds } from './api-session-ends.ts'
import { followApiSessions } from './api-session-follow-up.ts'
import { readClientInfo, type SentClientInfo, type Start, startApiSession } from './api-session-start.ts'
import { currentApiSessionMembers } from './current-api-session.ts'

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

  /** What only the holder of an API session sees of it: its token, what is still to be proved, and when it ends. */
  ownMembers(caller: Caller) {
    return currentApiSessionMembers(this.#context, caller)
  }

  /**
   * Starts an API session for an identity that the host has authenticated by means of its own.
   *
   * @throws {ControllerError} UNAUTHORIZED when the call is no system call.
   * @throws {ControllerError} NOT_FOUND when there is no such identity.
   * @throws {ControllerError} INVALID_AUTH when it is disabled.
   *
   * @example
   * const caller = await engine.apiSessions.startFor(SYSTEM_CALL, identity.id)
   * await engine.sessions.create({ by: 'caller', caller }, { serviceId: service.id, type: 'Dial' })
   */
  async startFor(call: Call, identityId: string, sent: SentClientInfo = {}): Promise<Caller> {
    const client = readClientInfo(sent)
    readId(identityId, 'identityId')
    if (call.by !== 'system') throw new ControllerError('UNAUTHORIZED')
    const identity = await this.#context.storage.read((tx) => tx.collection(identities).get(identityId))
    if (identity === undefined) throw notFound('identity', identityId)
    return this.start(call, { identity }, { method: 'ext-jwt', authenticatorId: 'internal', client })
  }

  /**
   * Starts an API session. The identity is looked at again inside the write, so that no session outlives its identity.
   *
   * @throws {ControllerError} INVALID_AUTH when the identity is gone or disabled.
   */
  start(call: Call, who: { readonly identity: RecordOf<typeof identities> }, start: Start): Promise<Caller> {
    return startApiSession(this.#context, call, who, start)
  }

  /** Who holds a token: `undefined` for a token that is unknown, expired, or of a disabled identity. Counts as use. */
  async resolve(token: string, bearerTokens: readonly string[] = []): Promise<Caller | undefined> {
    readText('token', token)
    const tokenDigest = this.#context.digest.sha256(token)
    const now = this.#context.clock.now()
    let ended: string | undefined
    const readCaller = async (tx: ReadTransaction) => {
      ended = undefined
      const stored = await findOne(tx, apiSessions, 'tokenDigest', tokenDigest)
      const identity = stored && (await tx.collection(identities).get(stored.identityId))
      if (stored === undefined || identity === undefined || isDisabled(identity, now)) return undefined
      const lastActivityAt = this.#activity.lastActivityAt(stored)
      const standing = standingOf({ ...stored, lastActivityAt }, now, this.#context.settings)
      if (standing === 'over') ended = stored.id
      if (standing !== 'underway') return undefined
      return callerOfSession(tx, { ...stored, lastActivityAt: Math.max(now, lastActivityAt) }, identity, token)
    }
    const caller = await this.#context.storage.read(readCaller, { mayBeginAgain: true })
    // What the clock has ended must not begin again when it goes back.
    if (ended !== undefined) await this.#ends.endForGood(ended)
    if (caller === undefined) return undefined
    await this.#activity.touch(caller.apiSession.id, now)
    return withSignerProof(this.#context, caller, bearerTokens)
  }

  /** Counts the API sessions of tokens as used, because routers hold connections of them; answers the tokens of none. */
  async keepAlive(tokens: readonly string[]): Promise<readonly string[]> {
    readValue('tokens', z.array(z.string()), tokens)
    const { storage, digest, clock, turns, settings } = this.#context
    const now = clock.now()
    const turn = turns.begin()
    const unknown: string[] = []
    for (const token of tokens) {
      const stored = await storage.read((tx) => findOne(tx, apiSessions, 'tokenDigest', digest.sha256(token)))
      const lastActivityAt = stored === undefined ? 0 : this.#activity.lastActivityAt(stored)
      const isOver = stored !== undefined && standingOf({ ...stored, lastActivityAt }, now, settings) === 'over'
      if (isOver) await this.#ends.endForGood(stored.id)
      if (stored === undefined || isOver) unknown.push(token)
      else await this.#activity.touch(stored.id, now)
      await turn()
    }
    return unknown
  }

  /**
   * The holder of an access token that was verified, as long as its session and its identity are there. `mayUse` judges
   * them once more in the same snapshot. Counts as use.
   */
  async resolveToken(
    { session: { z_asid: id, sub }, ...accessToken }: ReadToken,
    token: string,
    bearerTokens: readonly string[],
    mayUse: (tx: ReadTransaction) => Promise<boolean>,
  ): Promise<Caller | undefined> {
    const now = this.#context.clock.now()
    let ended: string | undefined
    const caller = await this.#context.storage.read(async (tx) => {
      const stored = await tx.collection(apiSessions).get(id)
      const identity = stored && (await tx.collection(identities).get(stored.identityId))
      if (stored === undefined || stored.tokensExpireAt === null || identity?.id !== sub) return undefined
      if (isDisabled(identity, now) || !(await mayUse(tx))) return undefined
      const standing = standingOf(stored, now, this.#context.settings)
      if (standing === 'over') ended = stored.id
      if (standing !== 'underway') return undefined
      return callerOfSession(tx, { ...stored, lastActivityAt: now }, identity, token)
    })
    if (ended !== undefined) await this.#ends.endForGood(ended)
    if (caller === undefined) return undefined
    await this.#activity.touch(id, now)
    return withSignerProof(this.#context, { ...caller, accessToken }, bearerTokens)
  }

  /** Ends an API session with its service sessions. */
  async end(call: Call, id: string): Promise<void> {
    return this.#ends.end(call, readId(id))
  }

  /** Ends those of the API sessions that nobody used for too long, with their service sessions. */
  endIdle(ids: readonly string[]): Promise<void> {
    return this.#ends.endIdle(ids)
  }

  /** Looks after API sessions that began, and forgets what this process remembers of those that ended. */
  follow({ changes }: RecordedWrite): void {
    for (const { operation, id } of changesTo(changes, apiSessions)) {
      if (operation === 'delete') this.#activity.forget(id)
    }
    followApiSessions(this.#context, changes)
  }
}
