import type { ControllerFetch, Limits } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createListener } from 'portcullis/node'
import type { Storage } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { adminToken } from '../../support/delegate.ts'
import { exchange, gate, parseResponse, requestText, withHttpServer } from './raw-http.ts'

/** A storage, and the limits of the lists of config types that were begun over it, in order. */
function listenedStorage(): { readonly storage: Storage; readonly begun: (number | undefined)[] } {
  const begun: (number | undefined)[] = []
  const storage = memoryStorage()
  const read: Storage['read'] = (work, options) =>
    storage.read((tx) => {
      const collection: typeof tx.collection = (kind) => {
        const records = tx.collection(kind)
        if (kind.name !== 'config-types') return records
        return {
          ...records,
          find: (query) => {
            begun.push(query?.limit)
            return records.find(query)
          },
        }
      }
      return work({ ...tx, collection })
    }, options)
  return { storage: { ...storage, read }, begun }
}

/** Clients of a controller over sockets, none of which is answered before all have asked. */
async function crowd(limits: Partial<Limits>, count: number) {
  const { storage, begun } = listenedStorage()
  const controller = await createTestController({ limits, storage })
  onTestFinished(() => controller.close())
  const tokens = [await adminToken(controller), await adminToken(controller)]
  const released = gate()
  const seen: string[] = []
  const fetch: ControllerFetch = async (request, connection) => {
    const what = request.headers.get('x-what') ?? ''
    seen.push(what)
    if (seen.length === count) released.open()
    await released.opened
    return controller.fetch(request, connection)
  }
  return {
    seen,
    begun,
    serving: (use: (ask: (what: string, session: 0 | 1, limit: number) => Promise<string>) => Promise<void>) =>
      withHttpServer(createListener(fetch), (port) =>
        use((what, session, limit) => {
          const headers = [`zt-session: ${tokens[session]}`, `x-what: ${what}`]
          return exchange(port, requestText(`GET /edge/management/v1/config-types?limit=${limit}`, headers))
        }),
      ),
  }
}

it.each([
  [500, 20, 12],
  [100, 40, 20],
])('lists of %i by one API session are waited for once by another of its identity', async (limit, count, most) => {
  const { seen, begun, serving } = await crowd({}, count + 2)
  const [second, short] = [limit - 1, 10]
  await serving(async (ask) => {
    const many = Array.from({ length: count }, () => ask('first', 0, limit))
    await expect.poll(() => seen.length).toBe(count)
    const texts = await Promise.all([...many, ask('second', 1, second), ask('short', 1, short)])
    expect(texts.map((text) => parseResponse(text).status)).toEqual(Array(count + 2).fill(200))
  })
  expect(begun).toHaveLength(count + 2)
  // Those that are being made are waited for. Which of those that are made at once is answered first is not said, and on a slow machine
  // some of the first are done before the others have come that far.
  expect(begun.indexOf(second)).toBeLessThan(most)
  expect(begun.indexOf(short)).toBeLessThan(most)
})

it('lists of one identity that are too many are refused: try again', async () => {
  const { serving } = await crowd({ listsPerIdentity: 2 }, 10)
  await serving(async (ask) => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('first', 0, 500)))
    const heads = answers.map((text) => parseResponse(text))
    expect(heads.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array(7).fill(429)])
    const refused = heads.filter(({ status }) => status === 429)
    expect(refused.every(({ head }) => head.includes('retry-after: 1'))).toBe(true)
    expect(parseResponse(await ask('later', 0, 500)).status).toBe(200)
  })
})
