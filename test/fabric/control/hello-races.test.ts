import { memoryStorage } from 'portcullis/memory'
import type { Storage } from 'portcullis/storage'
import { FakeRouter } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { edgeRouters } from '../../support/stored-records.ts'
import { fabricWorld } from './fabric-world.ts'

/** A storage that can keep back what the next look at edge routers found, until it is let go. */
function heldStorage() {
  const storage = memoryStorage()
  let hold: { readonly found: () => void; readonly release: Promise<void> } | undefined
  const held: Storage = {
    ...storage,
    async read(work, options) {
      let isConcerned = false
      const result = await storage.read(
        (tx) =>
          work({
            revision: tx.revision,
            line: tx.line,
            changesSince: (revision, line) => tx.changesSince(revision, line),
            collection(kind) {
              if (kind.name === edgeRouters.name) isConcerned = true
              return tx.collection(kind)
            },
          }),
        options,
      )
      if (!isConcerned || hold === undefined) return result
      const { found, release } = hold
      hold = undefined
      found()
      await release
      return result
    },
  }
  const holdNext = () => {
    const found = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    hold = { found: found.resolve, release: release.promise }
    return { found: found.promise, release: release.resolve }
  }
  return { storage: held, holdNext }
}

async function stage() {
  const { storage, holdNext } = heldStorage()
  const world = await fabricWorld({}, { storage })
  const enrolled = await world.enroll('r1')
  const isOnline = async () => (await world.call('GET', `/edge-routers/${enrolled.id}`)).isOnline
  return { world, enrolled, holdNext, isOnline }
}

it.each<readonly [string, string, string, object | undefined]>([
  ['disabled', 'PATCH', '', { disabled: true }],
  ['deleted', 'DELETE', '', undefined],
  ['re-enrolled', 'POST', '/re-enroll', undefined],
])('a router that is %s while its hello is judged is not connected', async (_, method, action, body) => {
  const { world, enrolled, holdNext } = await stage()
  const { found, release } = holdNext()
  const connected = new FakeRouter(enrolled, world.listener).connect()
  await found
  await world.call(method, `/edge-routers/${enrolled.id}${action}`, body)
  release()
  expect(await connected).toMatchObject({ accepted: false, reason: 'not-enrolled' })
  expect(world.told('router.connection')).toEqual([])
})

it('a connected router stays while somebody with another certificate says to be it', async () => {
  const { world, enrolled, holdNext, isOnline } = await stage()
  const router = new FakeRouter(enrolled, world.listener)
  await router.connect()
  const { chain } = await world.enroll('r2')
  // Long enough for a router to be put out by one with its own certificate.
  await world.controller.elapse(120_000)
  const { found, release } = holdNext()
  const pretending = new FakeRouter({ ...enrolled, chain }, world.listener).connect()
  await found
  expect(await isOnline()).toBe(true)
  release()
  expect(await pretending).toMatchObject({ accepted: false, reason: 'wrong-fingerprint' })
  expect(await isOnline()).toBe(true)
  expect(router.isClosed).toBe(false)
  expect(world.told('router.connection')).toMatchObject([{ isOnline: true }])
})

it('of two hellos of one router at once the first is connected, and stays', async () => {
  const { world, enrolled, holdNext, isOnline } = await stage()
  const { found, release } = holdNext()
  const [slow, quick] = [new FakeRouter(enrolled, world.listener), new FakeRouter(enrolled, world.listener)]
  const late = slow.connect()
  await found
  expect(await quick.connect()).toMatchObject({ accepted: true })
  release()
  expect(await late).toMatchObject({ accepted: false, reason: 'already-connected' })
  expect(await isOnline()).toBe(true)
  expect(quick.isClosed).toBe(false)
})

it('a router whose certificate is admitted again takes the place of its former channel', async () => {
  const { world, enrolled, isOnline } = await stage()
  const [former, next] = [new FakeRouter(enrolled, world.listener), new FakeRouter(enrolled, world.listener)]
  await former.connect()
  await world.controller.elapse(60_000)
  expect(await next.connect()).toMatchObject({ accepted: true })
  expect(world.told('router.connection').map((event) => event.isOnline)).toEqual([true, false, true])
  expect(await isOnline()).toBe(true)
})
