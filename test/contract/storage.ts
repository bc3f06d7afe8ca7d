import { type StorageUnderTest, storageContract } from 'portcullis/storage/contract'
import { describe, it } from 'vitest'
import { times } from '../support/property-runs.ts'

const HISTORIES = times(300, 75)

/** Declares the cases of the exported contract suite for one of our storages; {@link storageContract} says what is made. */
export function describeStorageContract(name: string, makeStorage: () => Promise<StorageUnderTest>): void {
  describe(`storage contract: ${name}`, () => {
    for (const { group, name: promise, run, timeoutMs } of storageContract(makeStorage, { histories: HISTORIES })) {
      it(`${group}: ${promise}`, { timeout: timeoutMs }, run)
    }
  })
}
