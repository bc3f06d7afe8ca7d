import { afterEach, describe } from 'vitest'
import type { Storage } from '../../src/ports/storage.ts'
import { describeChangeFeed } from './storage/change-feed.ts'
import { describeConcurrency } from './storage/concurrency.ts'
import { describeFilters } from './storage/find-filters.ts'
import { describePages } from './storage/find-pages.ts'
import { describeHandles } from './storage/handles.ts'
import { describeModel } from './storage/model.property.ts'
import { describeSnapshots } from './storage/snapshots.ts'
import { describeUniqueness } from './storage/uniqueness.ts'
import { describeValues } from './storage/values.ts'
import { describeWrites } from './storage/writes.ts'

export interface StorageUnderTest {
  readonly storage: Storage
  dispose(): Promise<void>
}

/**
 * Declares the tests that every implementation of the storage port passes. `makeStorage` answers a fresh, empty storage
 * for each test; the kinds of record that it will hold are those of `storage/kinds.ts`.
 */
export function storageContract(name: string, makeStorage: () => Promise<StorageUnderTest>): void {
  describe(`storage contract: ${name}`, () => {
    const made: StorageUnderTest[] = []
    const open = async () => {
      const one = await makeStorage()
      made.push(one)
      return one.storage
    }
    afterEach(async () => {
      for (const { dispose } of made.splice(0)) await dispose()
    })

    describe('writes', () => describeWrites(open))
    describe('handles', () => describeHandles(open))
    describe('uniqueness', () => describeUniqueness(open))
    describe('snapshots', () => describeSnapshots(open))
    describe('concurrency', () => describeConcurrency(open))
    describe('change feed', () => describeChangeFeed(open))
    describe('find by filter', () => describeFilters(open))
    describe('find in order, by page', () => describePages(open))
    describe('values', () => describeValues(open))
    describe('random histories', () => describeModel(open))
  })
}
