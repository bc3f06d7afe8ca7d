/**
 * The promises of the storage port as test cases that any runner runs: every storage has to pass all of them.
 *
 * @module portcullis/storage/contract
 */
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { describeConcurrency } from './concurrency.ts'
import type { RecordKind, Storage } from './core.ts'
import { describeChangeFeed } from './feeds.ts'
import { describeFilters } from './find-filters.ts'
import { describePages } from './find-pages.ts'
import { describeHandles } from './handles.ts'
import { describeJournals } from './journals.ts'
import { entries, machines, tickets } from './kinds-of-records.ts'
import { describeRandomHistories } from './random-histories.ts'
import { describeSnapshots } from './snapshots.ts'
import { caseDeclaration, type Suite } from './suite.ts'
import { describeUniqueness } from './uniqueness.ts'
import { describeValues } from './values.ts'
import { describeWrites } from './written-records.ts'

/** A storage that a case tries out. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Called when the case is over; the case may have closed the storage already. */
  dispose(): Promise<void>
}

/** One promise of the storage port. */
export interface ContractCase {
  /** The part of the contract that it belongs to: `writes`, `change feed`, … */
  readonly group: string
  /** The promise, in words; unique within the group. */
  readonly name: string
  /** Resolves when the storage keeps the promise; rejects with an `AssertionError` or the storage's own error otherwise. */
  run(): Promise<void>
  /** How long (ms) the case may take on a slow machine. */
  readonly timeoutMs: number
}

/** How thorough the contract is. */
export interface ContractOptions {
  /** How many random histories are played through; 300 by default. */
  readonly histories?: number
  /** The seed of the random histories; a failing history names it in its message. 1 by default. */
  readonly seed?: number
}

/**
 * The kinds of record that the cases keep: a storage that has to know them beforehand is made with these.
 *
 * @example
 * const storage = await sqliteStorage(':memory:', { kinds: CONTRACT_KINDS })
 */
export const CONTRACT_KINDS: readonly RecordKind[] = [machines, tickets, entries]

const OPTIONS: OptionRules<ContractOptions> = { histories: 'number', seed: 'number' }

/** How long (ms) a case may take unless it says otherwise. */
const TIMEOUT_MS = 30_000

/** How long (ms) one random history may take. */
const HISTORY_TIMEOUT_MS = 400

/**
 * The test cases that every implementation of the storage port passes, for a runner of your choice. `makeStorage` answers
 * a fresh, empty storage that holds {@link CONTRACT_KINDS}, as often as it is asked.
 *
 * @example
 * import { test } from 'node:test' // or from 'vitest'
 * import { storageContract } from 'portcullis/storage/contract'
 *
 * for (const { group, name, run } of storageContract(async () => {
 *   const storage = myStorage()
 *   return { storage, dispose: () => storage.close() }
 * })) {
 *   test(`${group}: ${name}`, run)
 * }
 */
export function storageContract(
  makeStorage: () => Promise<StorageUnderTest>,
  options: ContractOptions = {},
): readonly ContractCase[] {
  checkArgument('storageContract', 'makeStorage', makeStorage, { shape: 'function', isNeeded: true })
  checkOptions('storageContract', options, OPTIONS)
  const { histories = 300, seed = 1 } = options
  const longest = Math.max(TIMEOUT_MS, histories * HISTORY_TIMEOUT_MS)
  return [
    ...casesOf('writes', describeWrites, makeStorage),
    ...casesOf('handles', describeHandles, makeStorage),
    ...casesOf('uniqueness', describeUniqueness, makeStorage),
    ...casesOf('snapshots', describeSnapshots, makeStorage),
    ...casesOf('concurrency', describeConcurrency, makeStorage),
    ...casesOf('change feed', describeChangeFeed, makeStorage),
    ...casesOf('journals', describeJournals, makeStorage),
    ...casesOf('find by filter', describeFilters, makeStorage),
    ...casesOf('find in order, by page', describePages, makeStorage),
    ...casesOf('values', describeValues, makeStorage),
    ...casesOf('random histories', describeRandomHistories({ histories, seed }), makeStorage, longest),
  ]
}

function casesOf(
  group: string,
  describe: (suite: Suite) => void,
  makeStorage: () => Promise<StorageUnderTest>,
  timeoutMs = TIMEOUT_MS,
): readonly ContractCase[] {
  const unopened = () => Promise.reject(new Error('a case opens its storage when it runs'))
  return declaredBy(describe, unopened).map(({ name }, position) => ({
    group,
    name,
    timeoutMs,
    async run() {
      const made: StorageUnderTest[] = []
      const own = declaredBy(describe, async () => {
        const one = await makeStorage()
        made.push(one)
        return one.storage
      })[position]
      try {
        await own?.run()
      } finally {
        for (const one of made) await one.dispose()
      }
    },
  }))
}

/** Declared anew for each case, so that no two cases share an open storage. */
function declaredBy(describe: (suite: Suite) => void, open: Suite['open']) {
  const declared: { readonly name: string; readonly run: () => Promise<void> }[] = []
  describe({ it: caseDeclaration((name, run) => declared.push({ name, run })), open })
  return declared
}
