import { ControllerError } from '../domain/errors.ts'
import { isDisabled } from '../domain/identity.ts'
import { recordSdkInfo } from '../domain/posture/index.ts'
import type { ReadTransaction } from '../ports/storage.ts'
import { apiSessions } from '../resources/api-sessions.ts'
import { authPolicies } from '../resources/auth-policies.ts'
import type { authenticators } from '../resources/authenticators.ts'
import { identities } from '../resources/identities.ts'
import type { RecordOf } from '../resources/resource.ts'
import { SessionActivity } from './api-session-activity.ts'
import type { Call, Caller } from './call.ts'
import type { EngineContext } from './context.ts'
import { deleteEntity } from './deletion.ts'
import { findOne } from './find-one.ts'
import { postureDataOf } from './posture-facts.ts'
import { storePostureData } from './posture-store.ts'
import { writeAndTell } from './writes.ts'

type ApiSession = RecordOf<typeof apiSessions>
type Identity = RecordOf<typeof identities>

/** What a client tells of itself when it authenticates. */
export interface ClientInfo {
  readonly configTypes: readonly string[]
  readonly envInfo: Identity['envInfo'] | undefined
  readonly sdkInfo: Identity['sdkInfo'] | undefined
}

interface Start {
  readonly method: ApiSession['method']
  readonly authenticator: RecordOf<typeof authenticators>
  readonly isCertExtendable: boolean
  readonly improper?: boolean
  readonly client: ClientInfo
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

  /** Starts an API session. The identity is looked at again inside the write, so that no session outlives its identity. */
  async start(call: Call, who: { identity: Identity }, start: Start): Promise<Caller> {
    const { clock, random, digest } = this.#context
    const now = clock.now()
    const token = random.uuid()
    const tokenDigest = digest.sha256(token)
    const { client, authenticator, method } = start
    const apiSession: ApiSession = {
      id: random.id(),
      createdAt: now,
      updatedAt: now,
      tags: {},
      identityId: who.identity.id,
      authenticatorId: authenticator.id,
      tokenDigest,
      ipAddress: call.remoteAddress ?? '',
      configTypes: client.configTypes,
      isMfaRequired: false,
      isMfaComplete: false,
      isCertExtendable: start.isCertExtendable,
      improperClientCertChain: start.improper ?? false,
      lastActivityAt: now,
      method,
    }
    return writeAndTell(this.#context, call, async (tx) => {
      const current = await tx.collection(identities).get(who.identity.id)
      if (current === undefined || isDisabled(current, now)) throw new ControllerError('INVALID_AUTH')
      const { envInfo = current.envInfo, sdkInfo = current.sdkInfo } = client
      const identity = { ...current, envInfo, sdkInfo }
      await tx.collection(identities).update(identity)
      await tx.collection(apiSessions).insert(apiSession)
      if (client.sdkInfo !== undefined) {
        const known = await postureDataOf(tx, identity.id)
        await storePostureData(tx, identity.id, recordSdkInfo(known, apiSession.id, client.sdkInfo), now)
      }
      return this.#caller(tx, apiSession, identity, token)
    })
  }

  /** Who holds a token: `undefined` for a token that is unknown, expired, or of a disabled identity. Counts as use. */
  async resolve(token: string): Promise<Caller | undefined> {
    const tokenDigest = this.#context.digest.sha256(token)
    const now = this.#context.clock.now()
    const caller = await this.#context.storage.read(async (tx) => {
      const stored = await findOne(tx, apiSessions, 'tokenDigest', tokenDigest)
      const identity = stored && (await tx.collection(identities).get(stored.identityId))
      if (stored === undefined || identity === undefined || isDisabled(identity, now)) return undefined
      const lastActivityAt = this.#activity.lastActivityAt(stored)
      if (now - lastActivityAt >= this.#context.settings.apiSessionTimeoutMs) return undefined
      return this.#caller(tx, { ...stored, lastActivityAt: now }, identity, token)
    })
    if (caller !== undefined) await this.#activity.touch(caller.apiSession.id, now)
    return caller
  }

  /** Ends an API session with its service sessions. */
  async end(call: Call, id: string): Promise<void> {
    await writeAndTell(this.#context, call, (tx) => deleteEntity(tx, apiSessions, id))
    this.#activity.forget(id)
  }

  async #caller(tx: ReadTransaction, apiSession: ApiSession, identity: Identity, token: string): Promise<Caller> {
    const authPolicy = await tx.collection(authPolicies).get(identity.authPolicyId)
    if (authPolicy === undefined) throw new ControllerError('UNAUTHORIZED')
    const needsTotp = apiSession.isMfaRequired || authPolicy.secondary.requireTotp
    const needsJwt = Boolean(authPolicy.secondary.requireExtJwtSigner)
    const isFullyAuthenticated = (!needsTotp || apiSession.isMfaComplete) && !needsJwt
    return { apiSession, identity, authPolicy, token, isFullyAuthenticated }
  }
}
