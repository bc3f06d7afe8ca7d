import { memoryStorage } from 'portcullis/memory'
import type { ServiceConnection } from 'portcullis/sdk'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
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
  await using net = await createTestController({ router: true, model, storage })
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
