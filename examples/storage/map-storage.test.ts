import { test } from 'node:test'
import { storageContract } from 'portcullis/storage/contract'
import { mapStorage } from './map-storage.ts'

const cases = storageContract(async () => {
  const storage = mapStorage()
  return { storage, dispose: () => storage.close() }
})

for (const { group, name, run } of cases) test(`${group}: ${name}`, run)
