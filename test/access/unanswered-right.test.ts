import type { Storage } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import type { ServiceConnection } from 'portcullis/sdk'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const MINUTE_MS = 60_000
/** Milliseconds; the lifetime of an API session that is not renewed. */
const SESSION_MS = 30 * MINUTE_MS

const model = {
  identities: [
    { name: 'laptop', type: 'Device', isAdmin: false },
    { name: 'server', type: 'Device', isAdmin: false },
  ],
  services: [{ name: 'prod-db', encryptionRequired: true }],
  servicePolicies: [
    { name: 'host', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@server'], serviceRoles: ['@prod-db'] },
    { name: 'use', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] },
  ],
} as const

/** A dialer with a connection to a host, over a storage that may refuse. */
async function connected() {
  const storage = memoryStorage()
  const state = { isAway: false }
  const reached = () => {
    if (state.isAway) throw new StorageUnavailable('unreachable', 'the database is away')
    return storage
  }
  const failing: Storage = {
    read: async (work, options) => reached().read(work, options),
    write: async (work) => reached().write(work),
    close: () => storage.close(),
  }
  const net = await createTestController(await withSharedPki({ router: true, model, storage: failing }))
  await net.as('server').host('prod-db', (connection: ServiceConnection) => void connection.pipe(connection))
  const connection = await net.as('laptop').dial('prod-db')
  const ended = vi.fn()
  connection
    .on('error', () => undefined)
    .on('close', ended)
    .resume()
  const closed = vi.fn()
  net.events.on('circuit.closed', closed)
  return { net, state, ended, closed }
}

it('a circuit ends a minute behind its API session while the storage refuses, and no earlier', async () => {
  const { net, state, ended, closed } = await connected()
  state.isAway = true
  await net.elapse(SESSION_MS + MINUTE_MS / 2)
  expect(closed).not.toHaveBeenCalled()
  await net.elapse(MINUTE_MS)
  expect(closed).toHaveBeenCalledWith(expect.objectContaining({ reason: 'access-lost' }))
  await vi.waitFor(() => expect(ended).toHaveBeenCalled())
})
