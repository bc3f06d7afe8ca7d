import type { ControllerFetch, Limits, Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createListener } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { adminToken } from '../../support/delegate.ts'
import { exchange, gate, parseResponse, requestText, withHttpServer } from './raw-http.ts'

/** Clients of a controller over sockets, none of which is answered before all have asked. */
async function crowd(limits: Partial<Limits>, count: number) {
  const stored = memoryStorage()
  let held: Promise<void> = Promise.resolve()
  const storage: Storage = {
    read: (work) => held.then(() => stored.read(work)),
    write: (work) => stored.write(work),
    close: () => stored.close(),
  }
  const controller = await createTestController({ storage, limits })
  onTestFinished(() => controller.close())
  const tokens = [await adminToken(controller), await adminToken(controller)]
  const released = gate()
  held = released.opened
  const seen: string[] = []
  const answered: string[] = []
  const fetch: ControllerFetch = async (request, connection) => {
    const what = request.headers.get('x-what') ?? ''
    seen.push(what)
    if (seen.length === count) released.open()
    const response = await controller.fetch(request, connection)
    answered.push(what)
    return response
  }
  return {
    seen,
    answered,
    serving: (use: (ask: (what: string, session: 0 | 1, limit: number) => Promise<string>) => Promise<void>) =>
      withHttpServer(createListener(fetch), (port) =>
        use((what, session, limit) => {
          const headers = [`zt-session: ${tokens[session]}`, `x-what: ${what}`]
          return exchange(port, requestText(`GET /edge/management/v1/config-types?limit=${limit}`, headers))
        }),
      ),
  }
}

it('long lists of one API session are waited for once by others, also of its identity, and by short ones not at all', async () => {
  const { seen, answered, serving } = await crowd({}, 22)
  await serving(async (ask) => {
    const many = Array.from({ length: 20 }, () => ask('first', 0, 500))
    await expect.poll(() => seen.length).toBe(20)
    const texts = await Promise.all([...many, ask('second', 1, 500), ask('short', 1, 100)])
    expect(texts.map((text) => parseResponse(text).status)).toEqual(Array(22).fill(200))
  })
  // The one that is being made is waited for.
  expect(answered.indexOf('second')).toBeLessThan(4)
  expect(answered.indexOf('short')).toBeLessThan(4)
})

it('long lists of one identity that are too many are refused: try again', async () => {
  const { serving } = await crowd({ listsPerIdentity: 3 }, 10)
  await serving(async (ask) => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('first', 0, 500)))
    const heads = answers.map((text) => parseResponse(text))
    expect(heads.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array(7).fill(429)])
    const refused = heads.filter(({ status }) => status === 429)
    expect(refused.every(({ head }) => head.includes('retry-after: 1'))).toBe(true)
    expect(parseResponse(await ask('later', 0, 500)).status).toBe(200)
  })
})
