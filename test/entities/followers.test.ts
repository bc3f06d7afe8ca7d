import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { credentialScript } from '../support/credential-script.ts'
import { listenToWrites } from '../support/heard-changes.ts'
import { networkScript } from '../support/network-script.ts'
import { startNetwork } from '../support/scripted-network.ts'

const credentials = await credentialScript()
const script = [...networkScript(), ...credentials.requests]

describe('what follows from a write', () => {
  it(`follows from every write of ${script.length} requests: a follower hears all that the storage tells of`, async () => {
    const network = await startNetwork(memoryStorage(), credentials.places)
    const changes = await listenToWrites(network.controller)
    let writes = 0
    for (const request of script) {
      const { status } = await network.send(await network.resolve(request))
      await network.elapse(60_000)
      const { heard, told } = await changes()
      expect(status, `${request.method} ${request.path}`).toBeLessThan(300)
      expect(heard, `${request.method} ${request.path}`).toEqual(told)
      if (told.length > 0) writes += 1
    }
    expect(writes).toBeGreaterThan(100)
    await network.close()
  }, 60_000)
})
