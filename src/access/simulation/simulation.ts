import { z } from 'zod'
import { Gate } from '../../concurrency/gate.ts'
import type { EngineContext } from '../../context/context.ts'
import { PairCursor, PairLimit, SimulatedChanges } from '../../facts/access/access-questions.resource.ts'
import type { AccessIndex, IndexChange } from '../../facts/access/index/index.ts'
import { readRequest, readValue } from '../../kernel/declaration/read-body.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { AccessMirror } from './access-mirror.ts'
import {
  affectedServices,
  audienceChanges,
  cursorOf,
  isAfter,
  type PairKey,
  readCursor,
  type SimulatedCircumstances,
  type SimulationPage,
  type SimulationResult,
} from './audience-changes.ts'
import { gainedObstacles } from './gained-obstacles.ts'
import { judgedSimulation, withNames } from './judged-simulation.ts'
import { resolveChanges, type SimulatedChange } from './resolve-changes.ts'

/** How many pairs are on one page unless more or fewer are asked for. */
const DEFAULT_PAIRS = 100

/** Tries changes without writing anything: computes the identities that would gain or lose access, posture aside. */
export class Simulation {
  readonly #context: EngineContext
  readonly #mirror: AccessMirror
  /** One after the other: all of them use the same copy. */
  readonly #runs = new Gate(1)

  constructor(context: EngineContext) {
    this.#context = context
    this.#mirror = new AccessMirror(context.turns)
  }

  /**
   * The pairs of identity and service that would gain or lose Dial or Bind by the changes, from one snapshot. Long work is
   * done in slices, so that others are served meanwhile.
   *
   * Errors: `NOT_FOUND` for an unknown id, `COULD_NOT_VALIDATE` for an invalid role list or cursor, an id that is
   * taken, and more than 500 changes.
   */
  async run(
    changes: readonly SimulatedChange[],
    page: SimulationPage = {},
    circumstances?: SimulatedCircumstances,
  ): Promise<SimulationResult> {
    // The schema takes the requests of the resources themselves, as their type says.
    const known = readRequest(SimulatedChanges, changes) as readonly SimulatedChange[]
    const limit = readValue('limit', PairLimit.default(DEFAULT_PAIRS), page.limit)
    const cursor = readValue('cursor', PairCursor.optional(), page.cursor)
    const obstacles = readValue('obstacles', z.boolean().optional(), page.obstacles)
    if (circumstances !== undefined) {
      return this.#runs.run(() => judgedSimulation(this.#context, known, circumstances, { limit, cursor }))
    }
    return this.#runs.run(async () => {
      try {
        return await this.#context.storage.read((tx) => this.#simulate(tx, known, limit, cursor, obstacles))
      } catch (error) {
        this.#mirror.discard()
        throw error
      }
    })
  }

  async #simulate(
    tx: ReadTransaction,
    changes: readonly SimulatedChange[],
    limit: number,
    cursor: string | undefined,
    isWithObstacles = false,
  ): Promise<SimulationResult> {
    const after = cursor === undefined ? undefined : readCursor(cursor)
    const resolved = await resolveChanges(tx, changes, this.#context.turns)
    const index = await this.#mirror.at(tx)
    const { counts, keys } = await this.#compare(index, resolved.indexChanges, after, limit)
    const shown = keys.slice(0, limit)
    const last = shown.at(-1)
    const named = await withNames(tx, resolved, shown)
    const obstacles = isWithObstacles ? await gainedObstacles(this.#context, tx, resolved, shown) : undefined
    return {
      revision: tx.revision,
      counts: after === undefined ? counts : null,
      pairs: obstacles === undefined ? named : named.map((pair, place) => ({ ...pair, obstacle: obstacles[place] })),
      nextCursor: keys.length > limit && last !== undefined ? cursorOf(last) : null,
    }
  }

  /** Counts everything for the first page. For a later page it stops as soon as the page is full and one more pair is known. */
  async #compare(index: AccessIndex, changes: readonly IndexChange[], after: PairKey | undefined, most: number) {
    const { turns } = this.#context
    const turn = turns.begin()
    const affected = await affectedServices(index, changes, turns)
    const wanted = after === undefined ? affected : affected.filter((id) => id >= after.serviceId)
    const counts = { dial: { gained: 0, lost: 0 }, bind: { gained: 0, lost: 0 } }
    const keys: PairKey[] = []
    const missing = () => most + 1 - keys.length
    for await (const { serviceId, type, ...audience } of audienceChanges(index, changes, wanted, turns, missing)) {
      const count = type === 'Dial' ? counts.dial : counts.bind
      for (const change of ['gained', 'lost'] as const) {
        count[change] += audience[change].count
        for (const identityId of audience[change].ids ?? []) {
          if (missing() === 0) break
          const key = { serviceId, type, change, identityId }
          if (after === undefined || isAfter(key, after)) keys.push(key)
          await turn()
        }
      }
      if (after !== undefined && missing() === 0) break
    }
    return { counts, keys }
  }
}
