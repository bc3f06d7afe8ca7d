import { jsonBytes } from '../../../domain/bytes.ts'
import { ControllerError } from '../../../domain/errors.ts'
import { isDisabled } from '../../../domain/identity.ts'
import type { ClientRequest, RequestLogin } from '../../../domain/oidc/auth-request.ts'
import { OAuthError } from '../../../domain/oidc/oauth-error.ts'
import type { ReadTransaction, WriteTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { authPolicies } from '../../../resources/login/auth-policies.ts'
import { authRequests } from '../../../resources/login/auth-requests.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import { basisLost } from '../../credentials/login-basis.ts'
import { newRecord } from '../../records/new-record.ts'
import { writeEachInParts } from '../../records/parts.ts'
import type { ProviderContext } from '../tokens/provider-context.ts'
import { PendingRequests } from './pending-requests.ts'

export type AuthRequest = RecordOf<typeof authRequests>

/** Milliseconds from `/authorize` to the exchange of the code. */
const LIFETIME_MS = 10 * 60_000

/** Logins that are under way. They are stored, so that any process over the same store can go on with them. */
export class AuthRequests {
  readonly #context: ProviderContext
  readonly #pending: PendingRequests

  constructor(context: ProviderContext) {
    this.#context = context
    this.#pending = new PendingRequests(context.settings.limits)
  }

  /** Begins a login for a client. */
  async begin(request: ClientRequest): Promise<AuthRequest> {
    const { clock, random, writes, timetable } = this.#context
    const now = clock.now()
    const begun: AuthRequest = newRecord(random.uuid(), now, {
      request,
      expiresAt: now + LIFETIME_MS,
      identityId: null,
      login: null,
      signerLogin: null,
      codeDigests: [],
    })
    const gone = this.#pending.add(begun.id, request.remoteAddress, jsonBytes(begun))
    if (gone.includes(begun.id)) {
      const reason = 'it is larger than all logins from one network may be (limits loginBytesPerNetwork and loginBytes)'
      throw new OAuthError('invalid_request', reason)
    }
    await writes.run(SYSTEM_CALL, async (tx) => {
      await tx.collection(authRequests).insert(begun)
      for (const id of gone) await tx.collection(authRequests).delete(id)
    })
    for (const id of gone) timetable.set('auth-request', id, undefined)
    timetable.set('auth-request', begun.id, begun.expiresAt)
    return begun
  }

  /**
   * A login that is under way; `undefined` when its time is over. Where the credentials of whoever logged in on it would not
   * let in any more, nobody has logged in, and no code is good.
   */
  async find(tx: ReadTransaction, id: string): Promise<AuthRequest | undefined> {
    const now = this.#context.clock.now()
    const found = await tx.collection(authRequests).get(id)
    if (found === undefined || found.expiresAt <= now) return undefined
    if (found.login === null || (await this.#isUpheld(tx, found.login, now))) return found
    return { ...found, identityId: null, login: null, codeDigests: [] }
  }

  async #isUpheld(tx: ReadTransaction, login: RequestLogin, now: number): Promise<boolean> {
    const identity = await tx.collection(identities).get(login.identityId)
    const authPolicy = identity && (await tx.collection(authPolicies).get(identity.authPolicyId))
    if (identity === undefined || authPolicy === undefined || isDisabled(identity, now)) return false
    return (await basisLost(this.#context, tx, login, identity, authPolicy, now)) === undefined
  }

  /** The same in a snapshot of its own. Error: `UNAUTHORIZED` for an unknown id. */
  async get(id: string): Promise<AuthRequest> {
    const found = await this.#context.storage.read((tx) => this.find(tx, id))
    if (found === undefined) throw new ControllerError('UNAUTHORIZED')
    return found
  }

  /**
   * Within a write: the request goes on under another id, so that whoever knew the one before, and may have sent somebody
   * else to log in on it, is left behind.
   */
  async moved(tx: WriteTransaction, request: AuthRequest): Promise<AuthRequest> {
    const moved = { ...request, id: this.#context.random.uuid() }
    await tx.collection(authRequests).delete(request.id)
    await tx.collection(authRequests).insert(moved)
    return moved
  }

  /** Somebody logged in on a request, which may have another id since: it is bounded by who that is from now on. */
  noteLogin(id: string, { id: current, expiresAt }: AuthRequest): void {
    this.#pending.delete(id)
    if (id === current) return
    this.#context.timetable.set('auth-request', id, undefined)
    this.#context.timetable.set('auth-request', current, expiresAt)
  }

  /** Removes those of the requests whose time is over. */
  async endExpired(ids: readonly string[]): Promise<void> {
    const now = this.#context.clock.now()
    await writeEachInParts(this.#context, SYSTEM_CALL, ids, async (tx, id) => {
      const found = await tx.collection(authRequests).get(id)
      if (found !== undefined && found.expiresAt <= now) await tx.collection(authRequests).delete(id)
    })
    for (const id of ids) this.#pending.delete(id)
  }

  /** Looks after the requests that a store holds from before. */
  async resume(): Promise<void> {
    const { items } = await this.#context.storage.read((tx) => tx.collection(authRequests).find())
    for (const { id, expiresAt } of items) this.#context.timetable.set('auth-request', id, expiresAt)
  }
}
