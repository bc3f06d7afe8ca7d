import { jsonBytes } from '../base/bytes.ts'
import { BoundedMap } from '../base/collections.ts'
import { logFailure } from '../context/background-failure.ts'
import { type Call, knownCaller, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { auditRecords } from '../facts/audit/audit-record.resource.ts'
import { type Budget, fullBudget, nextEra, recordId, spend } from '../facts/audit/audit-trail.rules.ts'
import type { ControllerEvents } from '../facts/network/events.ts'
import { traitsOf } from '../facts/resources/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { lastRecordId, sealNext } from './audit-sealing.ts'
import { authorOf, circumstancesOf, type Observation, observationsOf, STRANGERS } from './audited-changes.ts'

/** Milliseconds after which what was not written with a change is written, and everything is sealed. */
const SEAL_AFTER_MS = 1000
/** At most this often (ms) the trail tells how much it left out. */
const TELL_LEFT_OUT_MS = 600_000
/** How many parties are counted at once; one that was not seen for longest begins anew. */
const MOST_PARTIES = 50_000
/** How many parties a record of what was left out names; the others it counts. */
const NAMED_PARTIES = 50
/** Bytes of a record beside its content. */
const BASE_BYTES = 200

type Ports = Pick<EngineContext, 'writes' | 'clock' | 'digest' | 'events' | 'timetable' | 'settings' | 'logger'>

/** An observation that waits to be written. */
interface Pending {
  /** Epoch ms. */
  readonly at: number
  readonly observation: Observation
}

interface LeftOut {
  count: number
  since: number
}

/**
 * The audit trail: every change of an entity is recorded in the write that makes it. Refusals, which change nothing, are written
 * together a second later. Each party has a number of bytes an hour; the trail counts what is beyond them.
 */
export class AuditTrail {
  readonly #ports: Ports
  readonly #budgets = new BoundedMap<string, Budget>(MOST_PARTIES)
  readonly #leftOut = new Map<string, LeftOut>()
  #pending: Pending[] = []
  #era: number | undefined
  #toldLeftOutAt = 0
  /** Something was written, or waits to be, since the last seal of this process. */
  #isUnsealed = false

  constructor(ports: Ports) {
    this.#ports = ports
    const { writes, events, timetable } = ports
    writes.record((tx, write) => this.#record(tx, write))
    writes.tell(({ changes }) => {
      if (changes.some(({ kind }) => traitsOf(kind).audit !== 'none')) this.#sealSoon()
    })
    events.on('authentication.attempted', (event) => this.#noteLogin(event))
    events.on('service.refused', (event) => this.#noteRefusedService(event))
    timetable.onDue('audit', () => this.seal())
  }

  /** A caller was refused an operation for lack of rights; `operation` is its route. */
  noteRefused(call: Call, operation: string, reason: string | undefined): void {
    const caller = knownCaller(call)
    if (caller === undefined) return
    const content = {
      ...circumstancesOf(call, authorOf(call)),
      ...(reason !== undefined && { reason }),
      facts: { operation },
    }
    const { id } = caller.identity
    this.#note({
      type: 'request.refused',
      kind: null,
      entityId: null,
      actorId: id,
      reader: null,
      content,
      party: `refusals ${id}`,
    })
  }

  /** Notes that an operator does something to the store by a command. */
  noteCommand(operator: { readonly name: string; readonly command: string }): void {
    const author = authorOf({ ...SYSTEM_CALL, operator })
    const content = { author, facts: { command: operator.command } }
    this.#note({
      type: 'operator.command',
      kind: null,
      entityId: null,
      actorId: null,
      reader: null,
      content,
      party: undefined,
    })
  }

  /** Looks after what an earlier process wrote and did not seal. */
  resume(): void {
    this.#sealSoon()
  }

  /** Seals what this process wrote. Where it cannot, the next process that serves the store does. */
  async close(): Promise<void> {
    if (!this.#isUnsealed) return
    await this.seal().catch((error: unknown) =>
      logFailure(this.#ports.logger, 'the audit trail was not sealed at the end', error),
    )
  }

  /** Writes what is still to be written, and seals every record. */
  async seal(): Promise<void> {
    this.#isUnsealed = false
    for (let isDone = false; !isDone; ) {
      const taken = this.#pending
      this.#pending = []
      try {
        isDone = await this.#ports.writes.run(SYSTEM_CALL, (tx) => this.#sealIn(tx, taken))
      } catch (error) {
        this.#pending = [...taken, ...this.#pending]
        this.#isUnsealed = true
        throw error
      }
    }
  }

  async #sealIn(tx: WriteTransaction, taken: readonly Pending[]): Promise<boolean> {
    const { clock, digest, settings } = this.#ports
    const now = clock.now()
    const told = [...taken, ...this.#leftOutSince(now)]
    const era = await this.#eraIn(tx)
    for (const [place, { at, observation }] of told.entries()) await insert(tx, era, place, at, observation)
    return sealNext(tx, { now, sha256: digest.sha256, keeping: settings.audit })
  }

  async #record(tx: WriteTransaction, write: RecordedWrite): Promise<void> {
    const { clock, digest } = this.#ports
    const now = clock.now()
    const observations = observationsOf(write, digest.sha256).filter((one) => this.#isAllowed(one, now))
    if (observations.length === 0) return
    const era = this.#era ?? (await this.#eraIn(tx))
    for (const [place, observation] of observations.entries()) await insert(tx, era, place, now, observation)
  }

  #note(observation: Observation): void {
    const at = this.#ports.clock.now()
    if (this.#isAllowed(observation, at)) this.#pending.push({ at, observation })
    this.#sealSoon()
  }

  #sealSoon(): void {
    const { timetable, clock } = this.#ports
    this.#isUnsealed = true
    timetable.notLater('audit', 'seal', clock.now() + SEAL_AFTER_MS)
  }

  #isAllowed({ party, content }: Observation, now: number): boolean {
    if (party === undefined) return true
    const { strangerBytesPerHour, endpointBytesPerHour } = this.#ports.settings.audit
    const allowance = { bytesPerHour: party === STRANGERS ? strangerBytesPerHour : endpointBytesPerHour }
    const known = this.#budgets.get(party) ?? fullBudget(allowance, now)
    const { isAllowed, budget } = spend(known, allowance, BASE_BYTES + jsonBytes(content), now)
    this.#budgets.set(party, budget)
    if (!isAllowed) this.#leaveOut(party, now)
    return isAllowed
  }

  #leaveOut(party: string, now: number): void {
    const known = this.#leftOut.get(party)
    if (known !== undefined) known.count += 1
    else this.#leftOut.set(this.#leftOut.size < MOST_PARTIES ? party : 'others', { count: 1, since: now })
  }

  /** Records from time to time how much was left out since the last such record. */
  #leftOutSince(now: number): readonly Pending[] {
    if (this.#leftOut.size === 0 || now - this.#toldLeftOutAt < TELL_LEFT_OUT_MS) return []
    this.#toldLeftOutAt = now
    const parties = [...this.#leftOut].map(([party, { count, since }]) => ({ party, count, since }))
    this.#leftOut.clear()
    const most = parties.sort((a, b) => b.count - a.count)
    const facts = {
      count: most.reduce((sum, { count }) => sum + count, 0),
      parties: most.slice(0, NAMED_PARTIES),
      otherParties: Math.max(0, most.length - NAMED_PARTIES),
    }
    const content = { author: { by: 'system' }, facts } as const
    const nobody = { kind: null, entityId: null, actorId: null, reader: null, party: undefined }
    return [{ at: now, observation: { type: 'audit.left-out', ...nobody, content } }]
  }

  #noteLogin(event: ControllerEvents['authentication.attempted']): void {
    if (event.success) return
    const { method, identityId, remoteAddress, reason } = event
    const author = { by: 'anonymous', method } as const
    this.#note({
      type: 'login.refused',
      kind: null,
      entityId: identityId ?? null,
      actorId: null,
      reader: 'ops',
      content: {
        ...circumstancesOf({ ...(remoteAddress !== undefined && { remoteAddress }) }, author),
        ...(reason !== undefined && { reason }),
      },
      party: STRANGERS,
    })
  }

  #noteRefusedService({ identityId, serviceId, type }: ControllerEvents['service.refused']): void {
    this.#note({
      type: 'service.refused',
      kind: 'services',
      entityId: serviceId,
      actorId: identityId,
      reader: 'identity',
      content: { author: { by: 'caller' }, facts: { access: type } },
      party: `refused-services ${identityId}`,
    })
  }

  /** The era of this store: another one than that of records whose revisions are yet to come here, for they were copied. */
  async #eraIn(tx: WriteTransaction): Promise<number> {
    if (this.#era !== undefined) return this.#era
    const last = await lastRecordId(tx)
    this.#era = last === '' ? 0 : nextEra(last, tx.revision)
    return this.#era
  }
}

async function insert(
  tx: WriteTransaction,
  era: number,
  place: number,
  at: number,
  { type, kind, entityId, actorId, reader, content }: Observation,
): Promise<void> {
  const id = recordId(era, tx.revision + 1, place)
  await tx.collection(auditRecords).insert(newRecord(id, at, { type, kind, entityId, actorId, reader, content }))
}
