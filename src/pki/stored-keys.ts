import { DAY_MS } from '../base/time.ts'
import { Gate } from '../concurrency/gate.ts'
import { logFailure } from '../context/background-failure.ts'
import { type Call, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { MAX_KEPT } from '../credentials/signing-keys.ts'
import { signingKeys } from '../facts/credentials/signing-key.resource.ts'
import { hasEnded, issuingAt, nextTurn } from '../facts/pki/generations.rules.ts'
import { networkAuthorities } from '../facts/pki/network-authority.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { NewServerCertificate } from '../ports/pki.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'

export type AuthorityRecord = RecordOf<typeof networkAuthorities>
type ServerRecord = RecordOf<typeof signingKeys>

/** A stored server certificate is renewed by the controller, this many milliseconds before it ends. */
const RENEW_BEFORE_MS = 30 * DAY_MS

/** No session lasts longer without another look at it, ms. */
const SESSION_MS = DAY_MS

/** The stored keys of the network. */
interface Stored {
  readonly authorities: readonly AuthorityRecord[]
  /** The latest of the certificates that replaced that of this process. */
  readonly server: ServerRecord | undefined
}

/**
 * Puts the stored keys of the network in use, whichever process made them: at the start, when they change, and when a
 * key begins or ends by time.
 */
export class StoredKeys {
  readonly #context: EngineContext
  readonly #afterLook: () => Promise<void>
  readonly #steps = new Gate(1)
  #inUse = ''
  /** Authorities whose sessions were ended by this process. */
  #ended: ReadonlySet<string> = new Set()
  /** The keys that listeners know of; undefined before the first. */
  #announced: string | undefined

  /** `afterLook` follows each look, and does not reject. */
  constructor(context: EngineContext, afterLook: () => Promise<void>) {
    this.#context = context
    this.#afterLook = afterLook
    const { timetable, writes } = context
    timetable.onDue('keys', () => this.#look())
    writes.follow(() => this.take(), [networkAuthorities])
  }

  /** Takes up the stored keys, and looks again from now on. Rejects for an unusable key: nothing could be signed. */
  async resume(): Promise<void> {
    await this.take()
    this.#lookAgain()
  }

  /** Takes up the keys stored at present; unless `renews` is false it renews the certificate of the server where that is due. */
  take(renews = true): Promise<void> {
    return this.#steps.run(() => this.#take(renews))
  }

  /** The authorities that are stored, the earliest first. */
  static async authorities(tx: ReadTransaction): Promise<readonly AuthorityRecord[]> {
    const { items } = await tx.collection(networkAuthorities).find({
      orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'asc' }],
    })
    return items
  }

  /** The storage may be away: the keys in use stay, and the next look finds the changes. */
  async #look(): Promise<void> {
    try {
      await this.take()
    } catch (error) {
      logFailure(this.#context.logger, 'the stored keys of the network cannot be taken up', error)
    } finally {
      this.#lookAgain()
    }
    // It may take long: no look waits for it.
    void this.#afterLook()
  }

  /** Looks again after some milliseconds at the latest. */
  lookWithin(ms: number): void {
    const { clock, timetable } = this.#context
    timetable.notLater('keys', 'look', clock.now() + ms)
  }

  #lookAgain(): void {
    const { lookForOthersMs } = this.#context.settings
    if (lookForOthersMs !== undefined) this.lookWithin(lookForOthersMs)
  }

  async #take(renews: boolean): Promise<void> {
    const { clock, keys, pki, timetable } = this.#context
    const now = clock.now()
    const stored = await this.#stored()
    const turn = nextTurn(stored.authorities, now)
    if (turn !== undefined) timetable.notLater('keys', 'look', turn)
    const issuing = issuingAt(stored.authorities, now)
    const ended = stored.authorities.filter((each) => hasEnded(each, now))
    const inUse = JSON.stringify([
      stored.authorities.map(({ id, goodUntil }) => [id, goodUntil, goodUntil !== null && goodUntil < now]),
      issuing?.id,
    ])
    if (issuing !== undefined && inUse !== this.#inUse) {
      await keys.adopt(stored.authorities, issuing, now)
      this.#inUse = inUse
    }
    this.#endSessions(ended, now)
    await this.#takeServer(stored, now, renews)
    this.#tell((await pki.serverCertificate()).fingerprint, (await pki.issuer()).fingerprint)
  }

  /** The sessions of certificates of an ended authority are over. Those of an authority that ended long ago ended with it. */
  #endSessions(ended: readonly AuthorityRecord[], now: number): void {
    const lately = ended.filter(({ id, goodUntil }) => !this.#ended.has(id) && now - (goodUntil ?? 0) < SESSION_MS)
    this.#ended = new Set(ended.map(({ id }) => id))
    if (lately.length > 0) this.#context.timetable.notLater('withdrawn', 'every API session', now)
  }

  #tell(serverCertificate: string, issuer: string): void {
    const announced = `${serverCertificate} ${issuer} ${this.#inUse}`
    if (this.#announced !== undefined && announced !== this.#announced)
      this.#context.events.emit('pki.changed', { serverCertificate, issuer, at: this.#context.clock.now() })
    this.#announced = announced
  }

  /** A server certificate by an earlier authority is renewed with its key, so that everything that the key signed stays valid. */
  async #takeServer({ authorities, server }: Stored, now: number, renews: boolean): Promise<void> {
    const { keys, pki } = this.#context
    const current = await pki.serverCertificate()
    if (server?.chainPem && server.id !== current.fingerprint)
      await keys.adoptServer(server.chainPem, server.keyReference)
    const { authorityKeyId, notAfter } = await pki.serverCertificate()
    const issuing = issuingAt(authorities, now)
    const isByFormer = authorities.some(({ keyId }) => keyId === authorityKeyId) && issuing?.keyId !== authorityKeyId
    const isOld = server !== undefined && notAfter - now < RENEW_BEFORE_MS
    if (!renews || issuing === undefined || !(isByFormer || isOld)) return
    const next = await keys.nextServer(false, now)
    const record = await this.keepServer({ ...next, keyReference: server?.keyReference ?? null }, server?.id)
    if (record.chainPem !== null) await keys.adoptServer(record.chainPem, record.keyReference)
  }

  /** Stores a server certificate as the successor of another, unless another process was faster; answers the stored one. */
  async keepServer(
    next: NewServerCertificate,
    after: string | undefined,
    call: Call = SYSTEM_CALL,
  ): Promise<ServerRecord> {
    const { clock, keys, writes } = this.#context
    const { certPem, chainPem, keyReference, facts } = next
    const given = { certPem, chainPem, keyReference, expiresAt: facts.notAfter, replaces: keys.configuredServer }
    return writes.run(call, async (tx) => {
      const latest = await successorOf(tx, keys.configuredServer)
      if (latest !== undefined && latest.id !== after) return latest
      // The order of certificates of one millisecond has to be kept.
      const createdAt = Math.max(clock.now(), (latest?.createdAt ?? 0) + 1)
      const record = newRecord(facts.fingerprint, createdAt, given)
      await tx.collection(signingKeys).insert(record)
      await forgetOldest(tx)
      return record
    })
  }

  /** The server certificate in use as it is stored; undefined for a certificate that the host gave. */
  currentServer(): Promise<ServerRecord | undefined> {
    const { keys, storage } = this.#context
    return storage.read((tx) => successorOf(tx, keys.configuredServer))
  }

  #stored(): Promise<Stored> {
    const { keys, storage } = this.#context
    return storage.read(async (tx) => ({
      authorities: await StoredKeys.authorities(tx),
      server: await successorOf(tx, keys.configuredServer),
    }))
  }
}

/** Each change of the server's key adds a certificate: only certificates whose tokens may still be valid are kept. */
async function forgetOldest(tx: WriteTransaction): Promise<void> {
  const { items } = await tx
    .collection(signingKeys)
    .find({ orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'desc' }] })
  for (const { id } of items.slice(MAX_KEPT)) await tx.collection(signingKeys).delete(id)
}

/** The latest certificate that replaced the given one of a host. */
async function successorOf(tx: ReadTransaction, given: string): Promise<ServerRecord | undefined> {
  const { items } = await tx.collection(signingKeys).find()
  const successors = items.filter(({ replaces }) => replaces === given)
  return successors.reduce<ServerRecord | undefined>(
    (latest, each) => (latest === undefined || latest.createdAt < each.createdAt ? each : latest),
    undefined,
  )
}

/** The authority that the host gave, as it is stored with the first change. */
export async function configuredAuthority({ keys, pki }: EngineContext): Promise<AuthorityRecord> {
  const { id, rootPem, chainPem, keyId } = keys.configured
  const { notBefore: issuesFrom } = await pki.issuer()
  const kept = { rootPem, chainPem, keyId, rootKey: null, signingKey: null, isVouchedFor: true }
  return newRecord(id, issuesFrom, { ...kept, issuesFrom, goodUntil: null, askedAt: issuesFrom })
}
