import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { DAY_MS } from '../base/time.ts'
import { logFailure } from '../context/background-failure.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { issuingAt, stateAt } from '../facts/pki/generations.rules.ts'
import { networkAuthorities } from '../facts/pki/network-authority.resource.ts'
import {
  type AuthorityChange,
  AuthorityChangeRequest,
  type PkiStatus,
  type RenewalHolder,
  type RotationRequest,
  RotationRequestBody,
} from '../facts/pki/pki-requests.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { FormerGeneration, NewGeneration } from '../ports/pki.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { examineHolders, type Judging } from './certificate-holders.ts'
import { requireAuthorityKnown, requireNobodyLockedOut } from './lockout.ts'
import { certificatesIn, outstandingHolders, pkiStatus } from './pki-status.ts'
import { askForRenewal } from './renewal-campaign.ts'
import { type AuthorityRecord, configuredAuthority, StoredKeys } from './stored-keys.ts'

/** Certificates of devices and routers live for a year: within this time each of them is renewed by itself. */
const KEEP_MS = 400 * DAY_MS
/** Authorities that may be valid at once: each stands in the trust bundle that every device and router keeps. */
const MOST_GOOD = 16
/** Authorities that are over and still shown; earlier ones are forgotten. */
const MOST_ENDED = 16
/** Days within which a certificate is about to end. */
const ENDING_DAYS = 30
/** Milliseconds after which devices that could not be asked are asked again. */
const ASK_AGAIN_MS = 60_000
/** How many holders of earlier certificates are answered at most. */
const MOST_HOLDERS = 500

/** Changes the keys of the network: those of the server, of the authority that signs certificates, and of the root. */
export class KeyRotation {
  readonly #context: EngineContext
  readonly #stored: StoredKeys
  /** Whether this process is asking devices, and is to look again afterwards. */
  #asking: 'no' | 'once' | 'again' = 'no'

  constructor(context: EngineContext) {
    this.#context = context
    // Another process may have died while it asked devices, and a storage may have failed.
    this.#stored = new StoredKeys(context, () => this.#ask())
    context.events.on('pki.changed', () => void this.#ask())
  }

  /** Puts the stored keys in use and completes an interrupted change. Rejects for an unusable key. */
  async resume(): Promise<void> {
    await this.#stored.resume()
    await this.#ask()
  }

  /** Puts the stored keys in use once, and writes nothing. Rejects where a stored key cannot be used. */
  takeUp(): Promise<void> {
    return this.#stored.take(false)
  }

  /**
   * Answers the authorities, the holders of certificates of the latest one, and the dependents of the server's key.
   * Certificates that end within `withinDays` count as ending.
   */
  status(withinDays = ENDING_DAYS): Promise<PkiStatus> {
    return pkiStatus(this.#context, withinDays)
  }

  /**
   * Makes the next key of the server, of the signing authority, or of root and signing authority, and puts it in use.
   * Earlier certificates are valid until `keepUntil`; devices are asked to renew theirs.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when new keys cannot be kept; when the key of the root is needed and unavailable; when 16
   *   authorities are valid already. Unless `voidsEnrollments` is true, when outstanding enrollments have tokens that the key of the server
   *   signed. Unless `locksOut` is true, when identities or routers would be locked out within a day.
   */
  async rotate(call: Call, request: RotationRequest): Promise<PkiStatus> {
    const { what, keepUntil, voidsEnrollments, locksOut } = readRequest(RotationRequestBody, request)
    const { clock, keys } = this.#context
    const now = clock.now()
    if (!keys.canKeepKeys) {
      throw invalidField('what', 'keys that are made cannot be kept: the host has to give secretsKey or keyStore', what)
    }
    if (keepUntil !== undefined && keepUntil <= now)
      throw invalidField('keepUntil', 'must be after the current date and time', keepUntil)
    if (what === 'server') await this.#rotateServer(call, voidsEnrollments, now)
    else await this.#rotateAuthority(call, what, { keep: keepUntil, locksOut }, now)
    return this.status()
  }

  /**
   * Changes until when the certificates of an authority are valid, or lets an announced authority begin to sign.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} COULD_NOT_VALIDATE when the authority signs and would end, or signed before; and, unless
   *   `locksOut` is true, when identities or routers would be locked out.
   */
  async change(call: Call, id: string, request: AuthorityChange): Promise<PkiStatus> {
    readId(id)
    const { goodUntil, issues, locksOut } = readRequest(AuthorityChangeRequest, request)
    const { clock, storage, writes } = this.#context
    const now = clock.now()
    if (!locksOut) {
      const before = await storage.read((tx) => StoredKeys.authorities(tx))
      const isSigning = requireChangeable(before, id, { goodUntil, issues }, now)
      if (isSigning) await requireAuthorityKnown(this.#context, this.#judging(before))
      if (goodUntil !== undefined) {
        const after = before.map((each) => (each.id === id ? { ...each, goodUntil } : each))
        await this.#requireNobodyLockedOut('goodUntil', goodUntil, before, after, now)
      }
    }
    await writes.run(call, async (tx) => {
      const known = await StoredKeys.authorities(tx)
      const begins = requireChangeable(known, id, { goodUntil, issues }, now)
      const authority = known.find((each) => each.id === id)
      if (authority === undefined) throw notFound(networkAuthorities.definition.singular, id)
      await tx.collection(networkAuthorities).update({
        ...authority,
        ...(goodUntil !== undefined && { goodUntil }),
        ...(begins && { issuesFrom: this.#issuesFrom(now), askedAt: null }),
        updatedAt: now,
      })
      if (begins) await endFormer(tx, known, authority.id, now + KEEP_MS, now)
    })
    return this.status()
  }

  /**
   * Lists the holders that have no certificate of the latest authority yet, with the reason and the remedy: routers,
   * then identities by id, 500 at most.
   */
  outstanding(): Promise<readonly RenewalHolder[]> {
    const { clock, presence, storage, turns } = this.#context
    return storage.read(async (tx) => {
      const holders = await examineHolders(tx, this.#judging(await StoredKeys.authorities(tx)), 0, turns)
      const facts = { presence: await presence.at(tx), now: clock.now() }
      return outstandingHolders(tx, holders, facts, MOST_HOLDERS)
    })
  }

  #judging(authorities: readonly AuthorityRecord[]): Judging {
    return { authorities, configuredKeyId: this.#context.keys.configured.keyId }
  }

  #requireNobodyLockedOut(
    field: string,
    given: unknown,
    before: readonly AuthorityRecord[],
    after: readonly AuthorityRecord[],
    now: number,
  ): Promise<void> {
    const change = { field, given, before: this.#judging(before), after: this.#judging(after), now }
    return requireNobodyLockedOut(this.#context, change)
  }

  async #rotateServer(call: Call, voidsEnrollments: boolean, now: number): Promise<void> {
    const { keys, storage } = this.#context
    const { totalCount } = await storage.read((tx) => tx.collection(enrollments).find({ limit: 1 }))
    if (totalCount > 0 && !voidsEnrollments) {
      const reason = `${totalCount} outstanding enrollments have tokens by the present key, which would be void: refresh or delete them, or say voidsEnrollments`
      throw invalidField('voidsEnrollments', reason, false)
    }
    const current = await this.#stored.currentServer()
    await this.#stored.keepServer(await keys.nextServer(true, now), current?.id, call)
    await this.#stored.take()
  }

  async #rotateAuthority(
    call: Call,
    what: 'signing' | 'root',
    { keep, locksOut }: { readonly keep: number | undefined; readonly locksOut: boolean },
    now: number,
  ): Promise<void> {
    const { pki, storage, writes } = this.#context
    const present = await storage.read((tx) => StoredKeys.authorities(tx))
    const latest = present.at(-1)
    const configured = await configuredAuthority(this.#context)
    const former = latest ?? configured
    requireFewGood(present, what, now)
    const ends = (await Promise.all([certificatesIn(pki, former.rootPem), certificatesIn(pki, former.chainPem)])).flat()
    const end = Math.min(...ends.map(({ notAfter }) => notAfter))
    if (keep === undefined && end <= now) {
      const reason =
        'keepUntil is required: the authority before has run out, and somebody has to say how long it is good still'
      throw invalidField('keepUntil', reason, keep)
    }
    const keepUntil = keep ?? Math.min(now + KEEP_MS, end)
    if (keep !== undefined && !locksOut) {
      const before = latest === undefined ? [configured] : present
      const after = before.map((each) => ({ ...each, goodUntil: Math.min(each.goodUntil ?? Infinity, keepUntil) }))
      await this.#requireNobodyLockedOut('keepUntil', keep, before, after, now)
    }
    const next = await this.#next(what, former, now)
    // Once the earlier authority has run out, no device can lose contact by the next one.
    const isTrusted = next.isVouchedFor || former.rootPem === next.rootPem || end <= now
    await writes.run(call, async (tx) => {
      const known = await StoredKeys.authorities(tx)
      if (known.at(-1)?.id !== latest?.id)
        throw new ControllerError('COULD_NOT_VALIDATE', { field: 'what', reason: 'another change was made meanwhile' })
      const over = known.filter((each) => stateAt(each, known, now) === 'ended')
      for (const { id } of over.slice(0, -MOST_ENDED)) await tx.collection(networkAuthorities).delete(id)
      const collection = tx.collection(networkAuthorities)
      if (latest === undefined) await collection.insert(configured)
      const before = latest === undefined ? [configured] : known
      const issuesFrom = isTrusted ? this.#issuesFrom(now) : null
      // The order of authorities that are made in the same millisecond has to be kept.
      const createdAt = Math.max(now, former.createdAt + 1)
      const record = newRecord(next.id, createdAt, { ...next, issuesFrom, goodUntil: null, askedAt: null })
      await collection.insert(record)
      if (issuesFrom !== null) await endFormer(tx, before, next.id, keepUntil, now)
    })
  }

  async #next(what: 'signing' | 'root', former: FormerGeneration, now: number): Promise<NewGeneration> {
    try {
      const { keys } = this.#context
      return await (what === 'root' ? keys.nextRoot(former, now) : keys.nextSigning(former, now))
    } catch (error) {
      throw invalidField('what', error instanceof Error ? error.message : String(error), what)
    }
  }

  /** Every process over the storage trusts an authority before one of them signs by it. */
  #issuesFrom(now: number): number {
    return now + 2 * (this.#context.settings.lookForOthersMs ?? 0)
  }

  /** Asks devices if the storage does not say that all were asked. A failure is followed by another try. Asked devices stay asked. */
  async #ask(): Promise<void> {
    const { clock, logger, storage } = this.#context
    const isFirst = this.#asking === 'no'
    this.#asking = isFirst ? 'once' : 'again'
    if (!isFirst) return
    try {
      const latest = await storage.read(async (tx) => (await StoredKeys.authorities(tx)).at(-1))
      const isDue = latest?.issuesFrom == null || latest.issuesFrom <= clock.now()
      if (latest !== undefined && latest.askedAt === null && isDue) await askForRenewal(this.#context, latest)
    } catch (error) {
      logFailure(logger, 'devices could not be asked to renew their certificates', error)
      this.#stored.lookWithin(ASK_AGAIN_MS)
    }
    const isAskedAgain = this.#asking === 'again'
    this.#asking = 'no'
    if (isAskedAgain) await this.#ask()
  }
}

/** Refuses one more authority where the trust bundle holds as many as it may. Error: `COULD_NOT_VALIDATE`. */
function requireFewGood(known: readonly AuthorityRecord[], what: string, now: number): void {
  const good = known.filter((each) => stateAt(each, known, now) !== 'ended')
  if (good.length < MOST_GOOD) return
  const reason = `${good.length} authorities are good already, and every device keeps them all: let former ones end first, by goodUntil`
  throw invalidField('what', reason, what)
}

/** Refuses a change that an authority does not take; answers whether it begins to sign by it. Errors: `NOT_FOUND`, `COULD_NOT_VALIDATE`. */
function requireChangeable(
  known: readonly AuthorityRecord[],
  id: string,
  { goodUntil, issues = false }: { readonly goodUntil: number | undefined; readonly issues: boolean | undefined },
  now: number,
): boolean {
  const authority = known.find((each) => each.id === id)
  if (authority === undefined) throw notFound(networkAuthorities.definition.singular, id)
  const state = stateAt(authority, known, now)
  if (goodUntil !== undefined && issuingAt(known, now)?.id === id)
    throw invalidField('goodUntil', 'the authority signs: another one has to take its place before', goodUntil)
  if (issues && (state === 'former' || state === 'ended')) {
    const is = state === 'former' ? 'another one has taken its place' : 'it is over'
    const reason = `the authority does not sign again, for ${is}: make the next one, as portcullis pki rotate signing does`
    throw invalidField('issues', reason, issues)
  }
  return issues && authority.issuesFrom === null
}

/** Earlier authorities end at an instant, unless they end earlier already. */
async function endFormer(
  tx: WriteTransaction,
  known: readonly AuthorityRecord[],
  next: string,
  keepUntil: number,
  now: number,
): Promise<void> {
  for (const each of known) {
    if (each.id === next || (each.goodUntil !== null && each.goodUntil <= keepUntil)) continue
    await tx.collection(networkAuthorities).update({ ...each, goodUntil: keepUntil, updatedAt: now })
  }
}
