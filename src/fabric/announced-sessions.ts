import { timeOrderedId } from '../base/time.ts'
import type { EngineContext } from '../context/context.ts'
import { placeOf } from '../context/store-level.ts'
import { storedSecret } from '../context/stored-secrets.ts'
import { isMissingBetweenRequests } from '../credentials/api-session-validity.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import type { AnnouncedApiSession, ToRouter } from '../facts/fabric/messages/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessionCertificates, apiSessions } from '../facts/login/api-session.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals, isIn } from '../kernel/filter/index.ts'
import { API_SESSION_TOKEN } from '../login/api-session-start.ts'
import { type Change, type HistoryPoint, isSamePoint, type ReadTransaction } from '../ports/record-storage.ts'
import { everyRecord } from '../records/read-records.ts'
import type { ConnectedRouter, ConnectedRouters, Owed } from './channels/connected-routers.ts'

type ApiSession = RecordOf<typeof apiSessions>

/** The sessions that routers may know, and when (epoch ms) they were read. */
interface AllSessions {
  readonly asOf: number
  readonly sessions: readonly AnnouncedApiSession[]
}

/** How a router learns of all sessions. */
interface Telling {
  /** Messages that arise meanwhile: they come after the announced sessions, as these may be older. */
  readonly held: ToRouter[]
  isAskedAgain: boolean
}

/** How many sessions go into one message. */
const SESSIONS_PER_MESSAGE = 100
/** The rest of an id that sorts behind every other of its instant: ids have letters and digits. */
const LAST = '~'
/** Ended sessions that are remembered: more than end while the sessions are read. */
const MOST_GONE = 10_000

/**
 * Tells edge routers which API sessions clients may present to them. A router admits only sessions that it knows, and closes the
 * connections of a session that it has to forget.
 */
export class AnnouncedSessions {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  /** Tokens by session: a message that a session ended names its token, and the store holds no token in the open. */
  readonly #tokens = new Map<string, string>()
  #latest: { readonly place: HistoryPoint; readonly all: Promise<AllSessions> } | undefined
  /** Sessions that ended lately: an older read of the store must not bring them back. */
  readonly #gone = new Set<string>()
  /** The routers that are receiving all sessions now. */
  readonly #telling = new Map<ConnectedRouter, Telling>()
  readonly #owed: Owed
  #syncs = 0

  constructor(context: EngineContext, routers: ConnectedRouters, owed: Owed) {
    this.#context = context
    this.#routers = routers
    this.#owed = owed
  }

  /** Sends a router all sessions; the router forgets every other session. Rejects when the sessions cannot be read. */
  async tellAll(router: ConnectedRouter): Promise<void> {
    const running = this.#telling.get(router)
    if (running !== undefined) {
      running.isAskedAgain = true
      return
    }
    const telling: Telling = { held: [], isAskedAgain: true }
    this.#telling.set(router, telling)
    try {
      while (telling.isAskedAgain) {
        telling.isAskedAgain = false
        await this.#sendAll(router)
        for (const message of telling.held.splice(0)) router.channel.send(message)
      }
    } finally {
      this.#telling.delete(router)
      for (const message of telling.held) router.channel.send(message)
    }
  }

  async #sendAll(router: ConnectedRouter): Promise<void> {
    const syncId = this.#nextSyncId()
    const turn = this.#context.turns.begin()
    const { asOf, sessions: read } = await this.#context.storage.read((tx) => this.#known(tx))
    const known = [...read.filter(({ id }) => !this.#gone.has(id)), this.#mark(asOf)]
    for (let sequence = 0; sequence === 0 || sequence * SESSIONS_PER_MESSAGE < known.length; sequence += 1) {
      const sessions = known.slice(sequence * SESSIONS_PER_MESSAGE, (sequence + 1) * SESSIONS_PER_MESSAGE)
      const isLast = (sequence + 1) * SESSIONS_PER_MESSAGE >= known.length
      router.channel.send({ type: 'api-sessions-added', sessions, full: { syncId, sequence, isLast } })
      await turn()
    }
  }

  /** Sends all edge routers the changes of sessions and of their certificates. */
  async follow(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    const routers = this.#routers.heldEdgeRouters()
    if (routers.length === 0 || changes === undefined) {
      this.#tokens.clear()
      this.#latest = undefined
    }
    if (routers.length === 0) return
    if (changes === undefined) {
      // The ended sessions are unknown here: routers forget every session that is missing among all of them.
      for (const router of routers) void this.#owed.tell(router, 'api-sessions', () => this.tellAll(router))
      return
    }
    this.#forget(routers, changes)
    const added: AnnouncedApiSession[] = []
    const updated: AnnouncedApiSession[] = []
    const withdrawn: string[] = []
    const turn = this.#context.turns.begin()
    const judge = async (id: string) => {
      const isNew = !this.#tokens.has(id)
      const stored = await tx.collection(apiSessions).get(id)
      const announced = stored && (await this.#announced(tx, stored))
      if (announced === undefined) withdrawn.push(id)
      else (isNew ? added : updated).push(announced)
    }
    const changed = await changedAmong(tx, changes)
    for (const id of changed) await judge(id)
    for await (const id of judgedAnew(tx, changes)) {
      const stored = changed.has(id) ? undefined : await tx.collection(apiSessions).get(id)
      // Its announcement changes only when a factor begins to be missing, or ceases to be.
      if (stored !== undefined && (await this.#mayBeUsed(tx, stored)) !== this.#tokens.has(id)) await judge(id)
      await turn()
    }
    this.#withdraw(routers, withdrawn)
    if (added.length > 0) this.#send(routers, { type: 'api-sessions-added', sessions: added })
    if (updated.length > 0) this.#send(routers, { type: 'api-sessions-updated', sessions: updated })
  }

  #send(routers: readonly ConnectedRouter[], news: ToRouter): void {
    for (const router of routers) {
      const telling = this.#telling.get(router)
      if (telling === undefined) router.channel.send(news)
      else telling.held.push(news)
    }
  }

  #forget(routers: readonly ConnectedRouter[], changes: readonly Change[]): void {
    const gone = changes.filter(({ kind, operation }) => kind === apiSessions.name && operation === 'delete')
    this.#noteGone(gone.map(({ id }) => id))
    this.#withdraw(
      routers,
      gone.map(({ id }) => id),
    )
  }

  /** Withdraws sessions that ended or still lack a factor; a session that no router knows needs no message. */
  #withdraw(routers: readonly ConnectedRouter[], ids: readonly string[]): void {
    const known = ids.flatMap((id) => {
      const token = this.#tokens.get(id)
      this.#tokens.delete(id)
      return token === undefined ? [] : [{ id, token }]
    })
    if (known.length === 0) return
    const tokens = known.map(({ token }) => token)
    this.#send(routers, { type: 'api-sessions-removed', tokens, ids: known.map(({ id }) => id) })
  }

  #noteGone(ids: readonly string[]): void {
    for (const id of ids) this.#gone.add(id)
    for (const id of this.#gone) {
      if (this.#gone.size <= MOST_GONE) return
      this.#gone.delete(id)
    }
  }

  /** All sessions as of the snapshot, read once for all routers that ask while nothing is written. */
  #known(tx: ReadTransaction): Promise<AllSessions> {
    if (this.#latest === undefined || !isSamePoint(this.#latest.place, tx)) {
      const all = this.#all(tx)
      const latest = { place: placeOf(tx), all }
      this.#latest = latest
      all.catch(() => {
        if (this.#latest === latest) this.#latest = undefined
      })
    }
    return this.#latest.all
  }

  async #all(tx: ReadTransaction): Promise<AllSessions> {
    const asOf = this.#context.clock.now()
    const turn = this.#context.turns.begin()
    const announced: AnnouncedApiSession[] = []
    for await (const { items } of everyRecord(tx, apiSessions, this.#context.turns)) {
      for (const stored of items) {
        const session = await this.#announced(tx, stored)
        if (session !== undefined) announced.push(session)
        await turn()
      }
    }
    return { asOf, sessions: announced }
  }

  /**
   * Routers forget each session that is missing among all sessions, unless it is newer than the newest of them. This entry belongs to no
   * client and stands for the instant (epoch ms) at which the sessions were read. It sorts behind every session of its instant, so that a
   * session that began and ended within it is forgotten too.
   */
  #mark(asOf: number): AnnouncedApiSession {
    return { id: timeOrderedId(asOf, LAST), identityId: '', token: this.#context.random.uuid(), certFingerprints: [] }
  }

  /** A session as routers know it; undefined while a factor is missing, and where its token cannot be read here. */
  async #announced(tx: ReadTransaction, stored: ApiSession): Promise<AnnouncedApiSession | undefined> {
    const { id, identityId, sealedToken } = stored
    if (sealedToken === null || !(await this.#mayBeUsed(tx, stored))) return undefined
    const secret = { sealed: sealedToken, purpose: API_SESSION_TOKEN }
    const token = await storedSecret(this.#context, secret, { kind: apiSessions.name, id })
    if (token === undefined || this.#gone.has(id)) return undefined
    this.#tokens.set(id, token)
    return { id, identityId, token, certFingerprints: await fingerprintsOf(tx, stored) }
  }

  /** Whether routers may let clients in by a session: it is underway, has a token of its own, and lacks no factor. */
  async #mayBeUsed(tx: ReadTransaction, stored: ApiSession): Promise<boolean> {
    // Routers judge a session that is made of tokens by the token alone.
    if (stored.sealedToken === null || this.#gone.has(stored.id)) return false
    const identity = await tx.collection(identities).get(stored.identityId)
    const authPolicy = identity && (await tx.collection(authPolicies).get(identity.authPolicyId))
    if (identity === undefined || authPolicy === undefined) return false
    return !(await isMissingBetweenRequests(this.#context, tx, stored, { identity, authPolicy }))
  }

  /** Sorts after every earlier one, over restarts too. */
  #nextSyncId(): string {
    this.#syncs += 1
    const now = this.#context.clock.now().toString(36).padStart(9, '0')
    return `${now}${this.#syncs.toString(36).padStart(8, '0')}`
  }
}

/** Every certificate that a client may present with a session. */
async function fingerprintsOf(tx: ReadTransaction, { id, identityId }: ApiSession): Promise<readonly string[]> {
  const own = await tx.collection(authenticators).find({ where: equals('identityId', identityId) })
  const ofSession = await tx.collection(apiSessionCertificates).find({ where: equals('apiSessionId', id) })
  const fingerprints = [...own.items, ...ofSession.items].map(({ fingerprint }) => fingerprint)
  return [...new Set(fingerprints.filter((fingerprint) => fingerprint !== null))]
}

/** Finds the sessions that are new, were written, or whose certificates changed. */
async function changedAmong(tx: ReadTransaction, changes: readonly Change[]): Promise<ReadonlySet<string>> {
  const present = changes.filter(({ operation }) => operation !== 'delete')
  const found = new Set(present.filter(({ kind }) => kind === apiSessions.name).map(({ id }) => id))
  for (const { kind, id } of present) {
    if (kind === apiSessionCertificates.name) {
      const certificate = await tx.collection(apiSessionCertificates).get(id)
      if (certificate !== undefined) found.add(certificate.apiSessionId)
    } else if (kind === authenticators.name) {
      const authenticator = await tx.collection(authenticators).get(id)
      const where = equals('identityId', authenticator?.identityId ?? '')
      for (const session of (await tx.collection(apiSessions).find({ where })).items) found.add(session.id)
    }
  }
  return found
}

/** Identities of an auth policy whose sessions are asked for at once. */
const IDENTITIES_AT_ONCE = 500

/**
 * Finds the sessions that may lack a factor, or lack it no more, though their records did not change: their identity has another auth
 * policy, or its policy or the signer that the policy asks for was changed.
 */
async function* judgedAnew(tx: ReadTransaction, changes: readonly Change[]): AsyncGenerator<string> {
  const changedOf = (name: string) =>
    new Set(changes.filter(({ kind, operation }) => kind === name && operation !== 'insert').map(({ id }) => id))
  const policies = changedOf(authPolicies.name)
  const signers = changedOf(externalJwtSigners.name)
  if (signers.size > 0) {
    const asking = (await tx.collection(authPolicies).find()).items
    for (const { id, secondary } of asking) if (signers.has(secondary.requireExtJwtSigner ?? '')) policies.add(id)
  }
  const holders = changedOf(identities.name)
  for (const id of policies) {
    for (const holder of await tx.collection(identities).findIds({ where: equals('authPolicyId', id) }))
      holders.add(holder)
  }
  const all = [...holders]
  for (let first = 0; first < all.length; first += IDENTITIES_AT_ONCE) {
    const where = isIn('identityId', all.slice(first, first + IDENTITIES_AT_ONCE))
    yield* await tx.collection(apiSessions).findIds({ where })
  }
}
