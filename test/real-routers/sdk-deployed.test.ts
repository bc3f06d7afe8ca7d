import { text } from 'node:stream/consumers'
import { openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findZiti } from '../../examples/traffic/ziti.ts'
import { DeployedNetwork } from '../support/deployed-network.ts'

const ziti = findZiti()

if (ziti === undefined) {
  console.warn('SKIPPED: no deployed controller was tried, because there is no `ziti` on the path and ZITI names none')
}

describe.skipIf(ziti === undefined)('the SDK with a deployed controller and its router', () => {
  let network: DeployedNetwork

  beforeAll(async () => {
    network = await DeployedNetwork.open(ziti ?? '')
    network.service('app', 'ON')
    network.service('plain', 'OFF')
  }, 180_000)

  afterAll(() => network?.close())

  it.each(['api-session', 'bearer', 'auto'] as const)(
    'enrolls, dials and hosts, encrypted and not: %s',
    async (sessions) => {
      await using laptop = await openIdentity(network.file('laptop.json'), { sessions })
      await using box = await openIdentity(network.file('box.json'), { sessions })
      for (const service of ['app', 'plain']) {
        await using _hosted = await box.host(service, async (connection: ServiceConnection) => {
          connection.end(`${connection.caller?.claimedName} sent ${(await text(connection)).length}`)
        })
        const connection = await laptop.dial(service)
        expect(connection.isEncrypted).toBe(service === 'app')
        connection.end('x'.repeat(1_000_000))
        expect(await text(connection)).toBe('laptop sent 1000000')
      }
      await expect(laptop.dial('nothing')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
    },
    60_000,
  )
})
