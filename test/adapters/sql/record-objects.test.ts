import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { adminToken } from '../../support/delegate.ts'
import { apiSessions, identities } from '../../support/stored-records.ts'

// From then on V8 understands such a function; what others compile is not changed.
setFlagsFromString('--allow-natives-syntax')
const isReadByPlace: (value: object) => boolean = runInThisContext('(value) => %HasFastProperties(value)')

it('records of a database are objects that V8 reads by place', async () => {
  const controller = await createTestController({ storage: await sqliteStorage(':memory:') })
  await adminToken(controller)
  const records = await controller.storage.read(async (tx) => [
    ...(await tx.collection(identities).find({})).items,
    ...(await tx.collection(apiSessions).find({})).items,
  ])
  expect(records.length).toBeGreaterThan(1)
  // With more than 16 fields a record that is filled field by field is a hash table.
  for (const record of records) {
    expect(Object.keys(record).length).toBeGreaterThan(20)
    expect(isReadByPlace(record)).toBe(true)
  }
  await controller.close()
})
