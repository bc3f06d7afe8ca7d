import { z } from 'zod'
import { ControllerError } from '../../../domain/errors.ts'
import { readValue } from '../../../resources/requests/read-body.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { findInconsistencies } from './find-inconsistencies.ts'
import { mend } from './mend.ts'

/** How many results of a run are kept. */
const MAX_RESULTS = 1000

/** What a run found; instants are epoch milliseconds. */
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
      logger.error('data integrity run failed', { error: String(error) })
      this.#report = { ...this.#report, error: 'the run failed, see the log of the controller' }
    }
    this.#report = { ...this.#report, endTime: clock.now(), inProgress: false }
  }
}
