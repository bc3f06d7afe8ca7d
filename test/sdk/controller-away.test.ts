import { memoryStorage } from 'portcullis/memory'
import type { ServiceConnection } from 'portcullis/sdk'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'
import { NETWORK_MODEL } from './network-model.ts'

const { edgeRouterPolicies: _own, serviceEdgeRouterPolicies: _policies, ...model } = NETWORK_MODEL

it('a dial while the database of the controller is away fails with a code and words that say so, and goes well afterwards', async () => {
  const inner = memoryStorage()
  let isAway = false
  const whileThere = <T>(work: () => Promise<T>): Promise<T> =>
    isAway ? Promise.reject(new StorageUnavailable('unreachable', 'the server is away')) : work()
  const storage: typeof inner = {
    ...inner,
    read: (work) => whileThere(() => inner.read(work)),
    write: (work) => whileThere(() => inner.write(work)),
  }
  await using net = await createTestController(await withSharedPki({ router: true, model, storage }))
  const server = await net.enroll('server', { roleAttributes: ['hosts'] })
  const laptop = await net.enroll('laptop', { roleAttributes: ['clients'] })
  await using _hosted = await server.host('plain', (connection: ServiceConnection) => void connection.end())
  ;(await laptop.dial('plain')).destroy()
  isAway = true
  const failure = await laptop.dial('plain').then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({
    code: 'CONTROLLER_UNREACHABLE',
    message: expect.stringContaining('the storage of the controller is not available: unreachable'),
  })
  isAway = false
  ;(await laptop.dial('plain')).destroy()
})

/** A network over a storage that hangs on demand: what it is asked then is answered when it is back. */
async function overHangingStorage() {
  const inner = memoryStorage()
  let back: Promise<void> | undefined
  let asked = 0
  const whileThere = async <T>(work: () => Promise<T>): Promise<T> => {
    if (back !== undefined) asked += 1
    await back
    return work()
  }
  const storage: typeof inner = {
    ...inner,
    read: (work) => whileThere(() => inner.read(work)),
    write: (work) => whileThere(() => inner.write(work)),
  }
  const net = await createTestController({ router: true, model, storage })
  /** Hangs until it is disposed of. */
  const hang = (): Disposable & { asked(): number } => {
    asked = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    back = promise
    return {
      asked: () => asked,
      [Symbol.dispose]() {
        back = undefined
        resolve()
      },
    }
  }
  return { net, hang }
}

async function codeOf(dialed: Promise<ServiceConnection>): Promise<unknown> {
  return dialed.then(
    (connection) => void connection.destroy(),
    (error: unknown) => error,
  )
}

it('a dial whose circuit waits for a database that hangs fails within seconds with the same code, and later dials at once', async () => {
  const { net: network, hang } = await overHangingStorage()
  await using net = network
  const server = await net.enroll('server', { roleAttributes: ['hosts'] })
  const laptop = await net.enroll('laptop', { roleAttributes: ['clients'] })
  await using _hosted = await server.host('plain', (connection: ServiceConnection) => void connection.end())
  ;(await laptop.dial('plain')).destroy()
  {
    using outage = hang()
    const dialed = codeOf(laptop.dial('plain'))
    await expect.poll(outage.asked).toBeGreaterThan(0)
    // `elapse` would wait for other work that is due then, which waits for the storage.
    net.clock.set(net.clock.now() + 3000)
    expect(await dialed).toMatchObject({
      code: 'CONTROLLER_UNREACHABLE',
      message: expect.stringContaining('the storage of the controller is not available: unreachable'),
    })
  }
  ;(await laptop.dial('plain')).destroy()
})

it('a first dial that waits for its controller, whose database hangs, says so when its time is over', async () => {
  const { net: network, hang } = await overHangingStorage()
  await using net = network
  const laptop = await net.enroll('laptop', { roleAttributes: ['clients'] })
  using outage = hang()
  const dialed = codeOf(laptop.dial('plain', { timeoutMs: 300 }))
  await expect.poll(outage.asked).toBeGreaterThan(0)
  net.clock.set(net.clock.now() + 300)
  expect(await dialed).toMatchObject({
    code: 'CONTROLLER_UNREACHABLE',
    message: 'plain: the controller did not answer within 300 ms',
  })
})
