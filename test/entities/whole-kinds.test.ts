import { openControlListener, routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import type { ReadCollection, ReadTransaction, Storage, StoredRecord } from 'portcullis/storage'
import { createTestController, enrollEdgeRouter, FakeRouter } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { apiSessions, identities } from '../support/stored-records.ts'

const MANY = 3000
/** Records that one answer of a storage may hold: of more the event loop is held for longer than a few milliseconds. */
const MOST_AT_ONCE = 1000
const { CONTENT_TYPE, Subscribe } = routerSide

/** Wraps a storage: tells the kinds of which one answer held more records than it may. */
function watchedAnswers(storage: Storage): { readonly storage: Storage; readonly tooLong: Set<string> } {
  const tooLong = new Set<string>()
  const look = (kind: string, count: number) => void (count > MOST_AT_ONCE && tooLong.add(`${count} ${kind}`))
  const watched = (tx: ReadTransaction): ReadTransaction => ({
    revision: tx.revision,
    line: tx.line,
    changesSince: (revision, line) => tx.changesSince(revision, line),
    collection<T extends StoredRecord>(kind: Parameters<typeof tx.collection<T>>[0]): ReadCollection<T> {
      const collection = tx.collection(kind)
      return {
        get: (id) => collection.get(id),
        async find(query) {
          const page = await collection.find(query)
          look(kind.name, page.items.length)
          return page
        },
        async findIds(query) {
          const ids = await collection.findIds(query)
          look(kind.name, ids.length)
          return ids
        },
        async *scan(fields) {
          for await (const slice of collection.scan(fields)) {
            look(kind.name, slice.items.length)
            yield slice
          }
        },
      }
    },
  })
  return { storage: { ...storage, read: (work, options) => storage.read((tx) => work(watched(tx)), options) }, tooLong }
}

it('no question takes all records of a large kind from the storage in one answer', async () => {
  const { storage, tooLong } = watchedAnswers(memoryStorage())
  const controller = await createTestController({ storage })
  const { token } = (await controller.client().call('POST /authenticate', LOGIN)).data
  const base = { createdAt: 0, updatedAt: 0, tags: {} }
  await storage.write(async (tx) => {
    const session = (await tx.collection(apiSessions).find({ limit: 1 })).items[0]
    if (session === undefined) throw new Error('the administrator has no session')
    for (let number = 0; number < MANY; number += 1) {
      const named = { ...base, id: `i${number}`, name: `identity ${number}`, typeId: 'Device', externalId: null }
      await tx.collection(identities).insert({ ...identities.defaults, ...named } as never)
      await tx.collection(apiSessions).insert({ ...session, id: `a${number}`, tokenDigest: `digest ${number}` })
    }
  })
  tooLong.clear()
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'zt-session': token, 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const { status } = await controller.fetch(new Request(`https://controller.test${path}`, init))
    expect(status, path).toBeLessThan(300)
  }
  const listener = await openControlListener(controller, { addresses: ['tls:controller.test:6262'] })
  const enrolled = await enrollEdgeRouter(controller, token, { name: 'router' })
  const router = new FakeRouter(enrolled, listener)
  await router.connect()
  router.send(
    CONTENT_TYPE.subscribeToModel,
    Subscribe.encode({ subscriptionDurationSeconds: 300, subscriptionId: 'a' }),
  )
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  await ask('GET', '/portcullis/v1/search?q=identity')
  await ask('POST', '/portcullis/v1/simulate', { changes: [], mfa: true })
  await ask('POST', '/edge/management/v1/database/check-data-integrity')
  await controller.elapse(1000)
  expect([...tooLong]).toEqual([])
  await listener.close()
  await controller.close()
})

const LOGIN = { query: { method: 'password' }, body: { username: 'admin', password: 'admin-password' } } as const
