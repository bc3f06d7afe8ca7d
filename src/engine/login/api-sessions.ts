import { ControllerError, notFound } from '../../domain/errors.ts'
import { isDisabled } from '../../domain/identity.ts'
import { endOf, standingOf } from '../../domain/login/api-session-end.ts'
import type { ReadToken } from '../../domain/oidc/claims.ts'
import type { LiveToken } from '../../domain/oidc/refresh-tokens.ts'
import { recordMfaPass, recordSdkInfo } from '../../domain/posture/index.ts'
import { type ReadTransaction, StorageUnavailable, type WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { mfas } from '../../resources/login/mfas.ts'
import { beginServiceView } from '../access/service-updates.ts'
import { configTypeIds } from '../configs/config-map.ts'
import { type Call, type Caller, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { withSignerProof } from '../credentials/external-logins.ts'
import { missingFactors, withMissing } from '../credentials/missing-factors.ts'
import { changePosture } from '../posture/posture-store.ts'
import { deletePart, endReasonsOf } from '../records/deletion.ts'
import { findOne } from '../records/find-one.ts'
import { newRecord } from '../records/new-record.ts'
import { MORE, type Part, writeInParts } from '../records/parts.ts'
import { makeRoom } from '../records/room.ts'
import { SessionActivity } from './api-session-activity.ts'
import { followApiSessions } from './api-session-follow-up.ts'
import { currentApiSessionMembers } from './current-api-session.ts'

type ApiSession = RecordOf<typeof apiSessions>
type Identity = RecordOf<typeof identities>
type AuthPolicy = RecordOf<typeof authPolicies>

/** The purpose for which tokens are sealed. */
export const API_SESSION_TOKEN = 'api-session-token'

/** What a client tells of itself when it authenticates. */
export interface ClientInfo {
  /** Config types, by id or name, whose configs the session sees in services; `all` for every type. Default: none. */
  readonly configTypes?: readonly string[] | undefined
  readonly envInfo?: Identity['envInfo'] | undefined
  readonly sdkInfo?: Identity['sdkInfo'] | undefined
}

/** What an API session is made of that begins by tokens instead of a secret for `zt-session`. */
export interface TokenSession {
  readonly id: string
  /** When the last of its tokens expires, epoch milliseconds. */
  readonly tokensExpireAt: number
  readonly refreshTokens: readonly LiveToken[]
  readonly hasPassedTotp: boolean
}

/** What good credentials begin. */
export interface Start {
  readonly method: ApiSession['method']
  /** The authenticator's id, or what stands for one that is not stored. */
  readonly authenticatorId: string
  readonly isCertExtendable?: boolean
  /** What an admin asks the holder of the certificate for. */
  readonly isExtendRequested?: boolean
  readonly isKeyRollRequested?: boolean
  /** SHA-1 of the certificate that authenticated. */
  readonly fingerprint?: string
  readonly improper?: boolean
  readonly client?: ClientInfo
  readonly tokens?: TokenSession
  /** Judges the credentials once more, within the write that starts the session; throws to refuse. */
  readonly confirm?: (tx: WriteTransaction, identity: Identity, authPolicy: AuthPolicy) => Promise<void>
}

/**
 * API sessions: started by an authentication, kept alive by use, ended by logout, by {@link EngineSettings.apiSessionTimeoutMs}
 * without use, or with the identity or authenticator behind them. Service sessions end with their API session.
 */
export class ApiSessions {
  readonly #context: EngineContext
  readonly #activity: SessionActivity

  constructor(context: EngineContext) {
    this.#context = context
    this.#activity = new SessionActivity(context)
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
   * Starts an API session for an identity that the host has authenticated by means of its own. Errors: `UNAUTHORIZED` for
   * any other than a system call, `NOT_FOUND`, `INVALID_AUTH` for a disabled identity.
   *
   * @example
   * const caller = await engine.apiSessions.startFor(SYSTEM_CALL, identity.id)
   * await engine.sessions.create({ by: 'caller', caller }, { serviceId: service.id, type: 'Dial' })
   */
  async startFor(call: Call, identityId: string, client: ClientInfo = {}): Promise<Caller> {
    if (call.by !== 'system') throw new ControllerError('UNAUTHORIZED')
    const identity = await this.#context.storage.read((tx) => tx.collection(identities).get(identityId))
    if (identity === undefined) throw notFound('identity', identityId)
    return this.start(call, { identity }, { method: 'ext-jwt', authenticatorId: 'internal', client })
  }

  /** Starts an API session. The identity is looked at again inside the write, so that no session outlives its identity. */
  async start(call: Call, who: { identity: Identity }, start: Start): Promise<Caller> {
    const { clock, random, digest } = this.#context
    const now = clock.now()
    const { client = {}, authenticatorId, method, tokens } = start
    const { configTypes = [] } = client
    const token = tokens === undefined ? random.uuid() : ''
    const apiSession: ApiSession = newRecord(tokens?.id ?? random.id(), now, {
      identityId: who.identity.id,
      authenticatorId,
      tokenDigest: tokens === undefined ? digest.sha256(token) : null,
      sealedToken: tokens === undefined ? await this.#context.sealer.seal(token, API_SESSION_TOKEN) : null,
      ipAddress: call.remoteAddress ?? '',
      configTypes,
      isMfaRequired: false,
      isMfaComplete: tokens?.hasPassedTotp ?? false,
      isCertExtendable: start.isCertExtendable ?? false,
      improperClientCertChain: start.improper ?? false,
      lastActivityAt: now,
      method,
      tokensExpireAt: tokens?.tokensExpireAt ?? null,
      refreshTokens: tokens?.refreshTokens ?? null,
    })
    const caller = await this.#context.writes.run(call, async (tx) => {
      const current = await tx.collection(identities).get(who.identity.id)
      if (current === undefined || isDisabled(current, now)) throw new ControllerError('INVALID_AUTH')
      const authPolicy = await tx.collection(authPolicies).get(current.authPolicyId)
      if (authPolicy === undefined) throw new ControllerError('INVALID_AUTH')
      await start.confirm?.(tx, current, authPolicy)
      const { envInfo = current.envInfo, sdkInfo = current.sdkInfo } = client
      const identity = { ...current, envInfo, sdkInfo }
      // The record of an identity may be large, and most logins tell nothing new.
      if (JSON.stringify([envInfo, sdkInfo]) !== JSON.stringify([current.envInfo, current.sdkInfo])) {
        await tx.collection(identities).update(identity)
      }
      const isMfaRequired = (await findOne(tx, mfas, 'identityId', identity.id))?.isVerified ?? false
      const started = { ...apiSession, isMfaRequired, configTypes: await configTypeIds(tx, configTypes) }
      await makeRoom(this.#context, tx, apiSessions, started)
      await tx.collection(apiSessions).insert(started)
      await this.#recordEndpoint(tx, started, client.sdkInfo)
      return this.#caller(tx, started, identity, token)
    })
    await beginServiceView(this.#context, caller)
    return withSignerProof(this.#context, caller, call.bearerTokens ?? [])
  }

  /** Who holds a token: `undefined` for a token that is unknown, expired, or of a disabled identity. Counts as use. */
  async resolve(token: string, bearerTokens: readonly string[] = []): Promise<Caller | undefined> {
    const tokenDigest = this.#context.digest.sha256(token)
    const now = this.#context.clock.now()
    let ended: string | undefined
    const caller = await this.#context.storage.read(async (tx) => {
      const stored = await findOne(tx, apiSessions, 'tokenDigest', tokenDigest)
      const identity = stored && (await tx.collection(identities).get(stored.identityId))
      if (stored === undefined || identity === undefined || isDisabled(identity, now)) return undefined
      const lastActivityAt = this.#activity.lastActivityAt(stored)
      const standing = standingOf({ ...stored, lastActivityAt }, now, this.#context.settings)
      if (standing === 'over') ended = stored.id
      if (standing !== 'underway') return undefined
      return this.#caller(tx, { ...stored, lastActivityAt: Math.max(now, lastActivityAt) }, identity, token)
    })
    // What the clock has ended must not begin again when it goes back.
    if (ended !== undefined) await this.#endForGood(ended)
    if (caller === undefined) return undefined
    await this.#activity.touch(caller.apiSession.id, now)
    return withSignerProof(this.#context, caller, bearerTokens)
  }

  /** The holder of an ended session is refused whether or not the storage takes the end down. */
  async #endForGood(id: string): Promise<void> {
    try {
      await this.endIdle([id])
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error
    }
  }

  /** Counts the API sessions of tokens as used, because routers hold connections of them; answers the tokens of none. */
  async keepAlive(tokens: readonly string[]): Promise<readonly string[]> {
    const { storage, digest, clock, turns, settings } = this.#context
    const now = clock.now()
    const turn = turns.begin()
    const unknown: string[] = []
    for (const token of tokens) {
      const stored = await storage.read((tx) => findOne(tx, apiSessions, 'tokenDigest', digest.sha256(token)))
      const lastActivityAt = stored === undefined ? 0 : this.#activity.lastActivityAt(stored)
      const isOver = stored !== undefined && standingOf({ ...stored, lastActivityAt }, now, settings) === 'over'
      if (isOver) await this.#endForGood(stored.id)
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
      return this.#caller(tx, { ...stored, lastActivityAt: now }, identity, token)
    })
    if (ended !== undefined) await this.#endForGood(ended)
    if (caller === undefined) return undefined
    await this.#activity.touch(id, now)
    return withSignerProof(this.#context, { ...caller, accessToken }, bearerTokens)
  }

  /** Ends an API session with its service sessions. */
  async end(call: Call, id: string): Promise<void> {
    await writeInParts(
      this.#context,
      call,
      (tx, part) => deletePart(tx, apiSessions, id, part),
      endReasonsOf(apiSessions),
    )
  }

  /** Ends those of the API sessions that nobody used for too long, with their service sessions. */
  async endIdle(ids: readonly string[]): Promise<void> {
    const { clock, settings, timetable } = this.#context
    const work = async (tx: WriteTransaction, part: Part) => {
      for (const id of ids) {
        const stored = await tx.collection(apiSessions).get(id)
        if (stored === undefined) continue
        const endsAt = endOf({ ...stored, lastActivityAt: this.#activity.lastActivityAt(stored) }, settings)
        if (endsAt > clock.now()) timetable.set('api-session', id, endsAt)
        else if (part.isOver() || (await deletePart(tx, apiSessions, id, part)) === MORE) return MORE
      }
      return undefined
    }
    await writeInParts(this.#context, SYSTEM_CALL, work, { ...endReasonsOf(apiSessions), apiSessions: 'timeout' })
  }

  /** Looks after API sessions that began, and forgets what this process remembers of those that ended. */
  follow({ changes }: RecordedWrite): void {
    for (const { operation, id } of changesTo(changes, apiSessions)) {
      if (operation === 'delete') this.#activity.forget(id)
    }
    followApiSessions(this.#context, changes)
  }

  /** What posture checks ask of the endpoint: its SDK, and whether a second factor was passed as the session began. */
  async #recordEndpoint(tx: WriteTransaction, apiSession: ApiSession, sdkInfo: ClientInfo['sdkInfo']): Promise<void> {
    if (sdkInfo === undefined && !apiSession.isMfaComplete) return
    const { id, identityId, createdAt: now } = apiSession
    await changePosture(this.#context, tx, { identityId, apiSessionId: id, now }, [], (known) => {
      const passed = apiSession.isMfaComplete ? recordMfaPass(known, id, now) : known
      return sdkInfo === undefined ? passed : recordSdkInfo(passed, id, sdkInfo)
    })
  }

  async #caller(tx: ReadTransaction, apiSession: ApiSession, identity: Identity, token: string): Promise<Caller> {
    const authPolicy = await tx.collection(authPolicies).get(identity.authPolicyId)
    if (authPolicy === undefined) throw new ControllerError('UNAUTHORIZED')
    const missing = await missingFactors(tx, apiSession, authPolicy)
    return withMissing({ apiSession, identity, authPolicy, token }, missing)
  }
}
