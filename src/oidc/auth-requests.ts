import { networkOf } from '../base/addresses.ts'
import { jsonBytes } from '../base/bytes.ts'
import { ControllerError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import { basisLost } from '../credentials/login-basis.ts'
import { isDisabled } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { authRequests } from '../facts/oidc/auth-request.resource.ts'
import { type ClientRequest, isListedUri, type RequestLogin } from '../facts/oidc/auth-request.rules.ts'
import { OAuthError } from '../facts/oidc/oauth-error.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { effectiveUris, storedSettings } from '../network/controller-settings.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { writeEachInParts } from '../records/write-batches.ts'
import type { ProviderContext } from './token-issue.ts'

/** How many logins of unknown clients may be under way: in all, and from one network. */
const MAX_PENDING = 10_000
const MAX_OF_NETWORK = 1000

/** Requests that one network began: the bytes of each, in the order in which they were begun. */
interface Begun {
  readonly sizes: Map<string, number>
  bytes: number
}

/**
 * The auth requests without a login. Any client can begin them, so this process bounds their number and their bytes. A
 * network that begins too many loses its oldest ones; where there are too many in all, the network with the most does.
 */
export class PendingRequests {
  readonly #limits: Pick<Limits, 'loginBytesPerNetwork' | 'loginBytes'>
  readonly #networks = new Map<string, string>()
  readonly #begun = new Map<string, Begun>()
  #bytes = 0

  constructor(limits: Pick<Limits, 'loginBytesPerNetwork' | 'loginBytes'>) {
    this.#limits = limits
  }

  /** Counts a request of `size` bytes for its address; answers the ids of the requests that it displaces. */
  add(id: string, address: string, size: number): readonly string[] {
    const network = address === '' ? '' : networkOf(address)
    const own = this.#begun.get(network) ?? { sizes: new Map<string, number>(), bytes: 0 }
    this.#begun.set(network, own)
    this.#networks.set(id, network)
    own.sizes.set(id, size)
    own.bytes += size
    this.#bytes += size
    const gone: string[] = []
    const { loginBytesPerNetwork, loginBytes } = this.#limits
    while (own.sizes.size > MAX_OF_NETWORK || own.bytes > loginBytesPerNetwork) gone.push(this.#drop(own))
    while (this.#networks.size > MAX_PENDING) gone.push(this.#drop(this.#most(({ sizes }) => sizes.size)))
    while (this.#bytes > loginBytes) gone.push(this.#drop(this.#most(({ bytes }) => bytes)))
    return gone
  }

  /** Stops counting a request: it has a login now, or it is over. */
  delete(id: string): void {
    const network = this.#networks.get(id)
    const own = network === undefined ? undefined : this.#begun.get(network)
    if (network === undefined || own === undefined) return
    const size = own.sizes.get(id) ?? 0
    this.#networks.delete(id)
    own.sizes.delete(id)
    own.bytes -= size
    this.#bytes -= size
    if (own.sizes.size === 0) this.#begun.delete(network)
  }

  /** Drops the oldest request of a network; answers its id. */
  #drop({ sizes }: Begun): string {
    const [id = ''] = sizes.keys()
    this.delete(id)
    return id
  }

  #most(amount: (begun: Begun) => number): Begun {
    let most: Begun = { sizes: new Map(), bytes: 0 }
    for (const begun of this.#begun.values()) if (amount(begun) > amount(most)) most = begun
    return most
  }
}

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
   * A login that is under way; `undefined` when its time is over. When the credentials of its login would not be
   * accepted any more, it counts as a request without a login, and its code is void.
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
   * Within a write: the request goes on under another id. An attacker who knew the id before, and may have sent a
   * victim to log in on it, is left behind.
   */
  async moved(tx: WriteTransaction, request: AuthRequest): Promise<AuthRequest> {
    const moved = { ...request, id: this.#context.random.uuid() }
    await tx.collection(authRequests).delete(request.id)
    await tx.collection(authRequests).insert(moved)
    return moved
  }

  /** Notes a login on a request, which may have another id since: from now on its time bounds it. */
  noteLogin(id: string, { id: current, expiresAt }: AuthRequest): void {
    this.#pending.delete(id)
    if (id === current) return
    this.#context.timetable.set('auth-request', id, undefined)
    this.#context.timetable.set('auth-request', current, expiresAt)
  }

  /** Removes the requests whose time is over. */
  async endExpired(ids: readonly string[]): Promise<void> {
    const now = this.#context.clock.now()
    await writeEachInParts(this.#context, SYSTEM_CALL, ids, async (tx, id) => {
      const found = await tx.collection(authRequests).get(id)
      if (found !== undefined && found.expiresAt <= now) await tx.collection(authRequests).delete(id)
    })
    for (const id of ids) this.#pending.delete(id)
  }

  /** Schedules the end of the requests that the store holds from before. */
  async resume(): Promise<void> {
    const { items } = await this.#context.storage.read((tx) => tx.collection(authRequests).find())
    for (const { id, expiresAt } of items) this.#context.timetable.set('auth-request', id, expiresAt)
  }
}

/** Reports whether clients may be sent to a URI after a login, by the settings of the controller now. */
export async function isRedirectUri(context: ProviderContext, uri: string): Promise<boolean> {
  if (isOwnPage(context, uri)) return true
  const stored = await context.storage.read(storedSettings)
  return isListedUri(uri, effectiveUris(context, stored).redirectUris)
}

/** The same after a logout; here an entry stands for itself alone, also one with a port left open. */
export async function isPostLogoutUri(context: ProviderContext, uri: string): Promise<boolean> {
  if (isOwnPage(context, uri)) return true
  const stored = await context.storage.read(storedSettings)
  return !uri.includes('*') && effectiveUris(context, stored).postLogoutUris.includes(uri)
}

/** The access explorer, which only the controller itself answers at the host of an issuer. */
function isOwnPage({ provider }: ProviderContext, uri: string): boolean {
  return provider.issuers.some((issuer) => uri === new URL('/portcullis/explorer/', issuer).href)
}
