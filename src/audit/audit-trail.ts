import { logFailure } from '../context/background-failure.ts'
import { type Call, knownCaller, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { auditRecords } from '../facts/audit/audit-record.resource.ts'
import { nextEra, recordId } from '../facts/audit/audit-trail.rules.ts'
import { hasRights } from '../facts/authority/authority.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { ControllerEvents } from '../facts/network/events.ts'
import { traitsOf } from '../facts/resources/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { AuditBudgets, type Pending, type Spending } from './audit-budgets.ts'
import { isStateLost, lastRecordId, sealNext } from './audit-sealing.ts'
import { authorOf, circumstancesOf, type Observation, observationsOf, STRANGERS } from './audited-changes.ts'

/** Milliseconds after which records that no write carried are written, and everything is sealed. */
const SEAL_AFTER_MS = 1000

/**
 * The audit trail: every change of an entity is recorded in the write that makes it. Refusals, which change nothing, are written together
 * a second later. Each party has a number of bytes an hour. Beyond them, the trail folds the acts of parties with rights into records
 * with a count, and only counts those of others. It writes both within a minute, and at the end.
 */
export class AuditTrail {
  readonly #context: EngineContext
  readonly #budgets: AuditBudgets
  /** The costs of writes that may not be committed yet, by their changes. */
  readonly #spendings = new WeakMap<RecordedWrite['changes'], Spending>()
  #pending: Pending[] = []
  #era: number | undefined
  /** True when records were written, or wait to be, since the last seal of this process. */
  #isUnsealed = false

  constructor(context: EngineContext) {
    this.#context = context
    const { writes, events, timetable, settings } = context
    this.#budgets = new AuditBudgets(settings.audit)
    writes.record((tx, made) => this.#record(tx, made))
    writes.tell(({ changes }) => {
      const spending = this.#spendings.get(changes)
      if (spending !== undefined) this.#settle(spending)
      if (changes.some(({ kind }) => traitsOf(kind).audit !== 'none')) this.#sealSoon()
    })
    events.on('authentication.attempted', (event) => this.#noteLogin(event))
    events.on('service.refused', (event) => this.#noteRefusedService(event))
    timetable.onDue('audit', () => this.seal())
  }

  /** Notes that a caller was refused an operation for lack of rights; `operation` is its route. */
  noteRefused(call: Call, operation: string, reason: string | undefined): void {
    const caller = knownCaller(call)
    if (caller === undefined) return
    const content = {
      ...circumstancesOf(call, authorOf(call)),
      ...(reason !== undefined && { reason }),
      facts: { operation },
    }
    const { id } = caller.identity
    const about = { kind: null, entityId: null, actorId: id, reader: null }
    this.#note({ type: 'request.refused', ...about, content, party: `refusals ${id}` }, hasRights(caller.identity))
  }

  /** Notes that an operator works on the store by a command. */
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

  /** Seals the records that an earlier process wrote and did not seal. */
  resume(): void {
    this.#sealSoon()
  }

  /** Seals the records that this process wrote. Where it cannot, the next process that serves the store does. */
  async close(): Promise<void> {
    if (!this.#isUnsealed && this.#budgets.dueAt === undefined) return
    await this.#seal(true).catch((error: unknown) =>
      logFailure(this.#context.logger, 'the audit trail was not sealed at the end', error),
    )
  }

  /** Writes pending records, and seals every record. */
  seal(): Promise<void> {
    return this.#seal(false)
  }

  async #seal(isLast: boolean): Promise<void> {
    this.#isUnsealed = false
    for (let isDone = false; !isDone; ) {
      const taken = [...this.#pending, ...this.#budgets.take(this.#context.clock.now(), isLast)]
      this.#pending = []
      try {
        isDone = await this.#context.writes.run(SYSTEM_CALL, (tx) => this.#sealIn(tx, taken))
      } catch (error) {
        this.#pending = [...taken, ...this.#pending]
        this.#isUnsealed = true
        throw error
      }
    }
  }

  async #sealIn(tx: WriteTransaction, taken: readonly Pending[]): Promise<boolean> {
    const { clock, digest, settings } = this.#context
    const era = await this.#eraIn(tx)
    const told = (await isStateLost(tx)) ? [{ at: clock.now(), observation: REBUILT }, ...taken] : taken
    for (const [place, { at, observation }] of told.entries()) await insert(tx, era, place, at, observation)
    return sealNext(tx, { now: clock.now(), sha256: digest.sha256, keeping: settings.audit })
  }

  async #record(tx: WriteTransaction, writes: readonly RecordedWrite[]): Promise<void> {
    const { clock, digest } = this.#context
    const now = clock.now()
    const observations: Observation[] = []
    for (const write of writes) {
      const spending = this.#budgets.begin(now)
      for (const one of observationsOf(write, digest.sha256)) {
        if (await this.#isKept(tx, spending, one)) observations.push(one)
      }
      // A storage may run a write again: its cost counts once it is committed.
      this.#spendings.set(write.changes, spending)
    }
    if (observations.length === 0) return
    const era = this.#era ?? (await this.#eraIn(tx))
    for (const [place, observation] of observations.entries()) await insert(tx, era, place, now, observation)
  }

  #settle(spending: Spending): void {
    this.#budgets.settle(spending)
    const { dueAt } = this.#budgets
    if (dueAt !== undefined) this.#context.timetable.notLater('audit', 'told', dueAt)
  }

  /** Notes an observation that no write carries; it is folded rather than left out where the party `isOperator`. */
  #note(observation: Observation, isOperator = false): void {
    const at = this.#context.clock.now()
    const { party } = observation
    const spending = this.#budgets.begin(at)
    if (party === undefined || this.#budgets.hasBytes(spending, party, observation)) {
      this.#pending.push({ at, observation })
    } else if (isOperator) spending.folded.push(observation)
    else spending.leftOut.push(party)
    this.#settle(spending)
    this.#sealSoon()
  }

  #sealSoon(): void {
    const { timetable, clock } = this.#context
    this.#isUnsealed = true
    timetable.notLater('audit', 'seal', clock.now() + SEAL_AFTER_MS)
  }

  /** Reports whether an observation is recorded by itself. Otherwise it is folded, or left out, once its write is committed. */
  async #isKept(tx: ReadTransaction, spending: Spending, observation: Observation): Promise<boolean> {
    const { party, owner } = observation
    if (party === undefined || this.#budgets.hasBytes(spending, party, observation)) return true
    const identity = owner === undefined ? undefined : await tx.collection(identities).get(owner)
    if (identity !== undefined && hasRights(identity)) spending.folded.push(observation)
    else spending.leftOut.push(party)
    return false
  }

  #noteLogin(event: ControllerEvents['authentication.attempted']): void {
    if (event.success) return
    const { method, identityId, remoteAddress, requestId, reason } = event
    const author = { by: 'anonymous', method } as const
    this.#note({
      type: 'login.refused',
      kind: null,
      entityId: identityId ?? null,
      actorId: null,
      reader: 'ops',
      content: {
        ...circumstancesOf(
          { ...(remoteAddress !== undefined && { remoteAddress }), ...(requestId !== undefined && { requestId }) },
          author,
        ),
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

  /** The era of this store. A copied store may hold records with later revisions than its own: then a new era begins. */
  async #eraIn(tx: WriteTransaction): Promise<number> {
    if (this.#era !== undefined) return this.#era
    const last = await lastRecordId(tx)
    this.#era = last === '' ? 0 : nextEra(last, tx.revision)
    return this.#era
  }
}

/** The state of the chain was removed or altered, and was rebuilt from its seals. */
const REBUILT: Observation = {
  type: 'audit.rebuilt',
  kind: null,
  entityId: null,
  actorId: null,
  reader: null,
  content: { author: { by: 'system' } },
  party: undefined,
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
