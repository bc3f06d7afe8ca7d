import { z } from 'zod'
import { ControllerError } from '../../base/errors.ts'
import { logFailure } from '../../context/background-failure.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { DEFAULT_AUTH_POLICY } from '../../credentials/auth-policies.ts'
import { POSTURE_CHECK_TYPES } from '../../facts/access/posture/rules/index.ts'
import { BUILT_IN_CONFIG_TYPES } from '../../facts/configs/config-types.rules.ts'
import { RESOURCES } from '../../facts/resources/index.ts'
import { readValue } from '../../kernel/declaration/read-body.ts'
import type { RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import type { DamagedRecord, ReadTransaction, WriteTransaction } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'
import { deleteBatch } from '../../records/deletion.ts'
import { everyRecord } from '../../records/read-records.ts'
import { type WriteBatch, writeInBatches } from '../../records/write-batches.ts'
import { damage, type Inconsistency, inconsistenciesOf, type Repair } from './inconsistency.ts'

/** How many results of a run are kept. */
const MAX_RESULTS = 1000

/** The findings of a run; instants are epoch milliseconds. */
export interface IntegrityReport {
  readonly startTime: number | null
  readonly endTime: number | null
  readonly error: string | null
  readonly fixingErrors: boolean
  readonly inProgress: boolean
  readonly results: readonly { readonly description: string; readonly fixed: boolean }[]
  readonly tooManyErrors: boolean
}

const NEVER_RUN: IntegrityReport = {
  startTime: null,
  endTime: null,
  error: null,
  fixingErrors: false,
  inProgress: false,
  results: [],
  tooManyErrors: false,
}

/** Checks and repairs the store against the declarations, one run at a time; results stay in this process. */
export class DataIntegrity {
  readonly #context: EngineContext
  #report = NEVER_RUN
  #run: Promise<void> = Promise.resolve()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The run under way, or the last one. */
  get report(): IntegrityReport {
    return this.#report
  }

  /**
   * Starts a run in the background, which also repairs where `fixing`.
   *
   * @throws {ControllerError} RATE_LIMITED while a run is under way.
   */
  start(call: Call, fixing: boolean): void {
    readValue('fixing', z.boolean(), fixing)
    if (this.#report.inProgress) throw new ControllerError('RATE_LIMITED')
    const startTime = this.#context.clock.now()
    this.#report = { ...NEVER_RUN, startTime, fixingErrors: fixing, inProgress: true }
    this.#run = this.#work(call, fixing)
  }

  /** Settles when no run is under way. */
  finished(): Promise<void> {
    return this.#run
  }

  async #work(call: Call, fixing: boolean): Promise<void> {
    const { storage, clock, logger, turns } = this.#context
    try {
      if (fixing) await storage.snapshot?.()
      const found = await storage.read((tx) => findInconsistencies(tx, MAX_RESULTS + 1, turns))
      const results: { description: string; fixed: boolean }[] = []
      for (const { description, repair } of found.slice(0, MAX_RESULTS)) {
        const fixed = fixing && repair !== undefined && (await mend(this.#context, call, repair))
        results.push({ description, fixed })
      }
      const tooManyErrors = found.length > MAX_RESULTS
      this.#report = { ...this.#report, results, tooManyErrors }
    } catch (error) {
      logFailure(logger, 'data integrity run failed', error)
      this.#report = { ...this.#report, error: 'the run failed, see the log of the controller' }
    }
    this.#report = { ...this.#report, endTime: clock.now(), inProgress: false }
  }
}

/** The first `limit` violations of the declarations in one snapshot of the store. `turns` shares the thread. */
export async function findInconsistencies(
  tx: ReadTransaction,
  limit: number,
  turns: Turns,
): Promise<readonly Inconsistency[]> {
  const turn = turns.begin()
  const records = new Map<string, readonly RecordOf<Resource>[]>()
  const unreadable = new Map<string, readonly DamagedRecord[]>()
  const ids = new Map<string, Set<string>>()
  for (const resource of RESOURCES) {
    const known = new Set<string>()
    const all: RecordOf<Resource>[] = []
    const allDamaged: DamagedRecord[] = []
    for await (const { items, damaged = [] } of everyRecord(tx, resource, turns)) {
      for (const { id } of [...items, ...damaged]) known.add(id)
      all.push(...items)
      allDamaged.push(...damaged)
    }
    unreadable.set(resource.name, allDamaged)
    records.set(resource.name, all)
    ids.set(resource.name, known)
  }
  const none: ReadonlySet<string> = new Set()
  const found: Inconsistency[] = []
  for (const resource of RESOURCES) {
    const known = (kind: string) => ids.get(kind) ?? none
    found.push(...(unreadable.get(resource.name) ?? []).map((record) => damage(resource, record)))
    if (found.length >= limit) return found.slice(0, limit)
    for (const inconsistency of inconsistenciesOf(resource, records.get(resource.name) ?? [], known)) {
      await turn()
      if (inconsistency === undefined) continue
      if (found.length >= limit) return found
      found.push(inconsistency)
    }
  }
  return found
}

/** Does a repair; answers whether the fault was still there. */
export function mend(
  context: EngineContext,
  call: Call,
  { resource, id, field, entry, action }: Repair,
): Promise<boolean> {
  const work = async (tx: WriteTransaction, batch: WriteBatch) => {
    if (action === 'remove') return deleteBatch(tx, resource, id, batch)
    const record = await tx.collection(resource).get(id)
    const value = record?.[field]
    if (record === undefined) return false
    const left = Array.isArray(value) ? value.filter((other) => other !== entry) : null
    return tx.collection(resource).update({ ...record, [field]: left })
  }
  return writeInBatches(context, call, work)
}

/** Makes the fields of a record that every new network has, by kind and id: no network works without it. */
export function builtInFields(kind: string, id: string): object | undefined {
  switch (kind) {
    case 'auth-policies':
      return id === 'default' ? DEFAULT_AUTH_POLICY : undefined
    case 'config-types':
      return BUILT_IN_CONFIG_TYPES.find((type) => type.id === id)
    case 'identity-types':
      return { name: id }
    case 'posture-check-types':
      return POSTURE_CHECK_TYPES.find((type) => type.id === id)
    default:
      return undefined
  }
}
