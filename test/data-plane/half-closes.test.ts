import { describe, expect, it } from 'vitest'
import { edgeWorld, until } from '../support/edge-world.ts'
import { arrivals, circuits, KINDS, PAIRS, type PlayedEnd, playPair } from '../support/played-ends.ts'
import { times } from '../support/property-runs.ts'

describe.each(PAIRS)('a host with $host and a client with $client', (kinds) => {
  it('hear that the other one closed its direction, and the other direction goes on', async () => {
    const hosted: PlayedEnd[] = []
    const { host, client, dial } = await playPair(await edgeWorld(), kinds, (end) => void hosted.push(end))
    const end = await dial()
    end.start()
    hosted[0]?.write('all')
    hosted[0]?.halfClose()
    await until(() => arrivals(client, 'initiator').includes('half'))
    end.write('thanks')
    await until(() => arrivals(host, 'terminator').includes('thanks'))
    expect([arrivals(client, 'initiator'), arrivals(host, 'terminator')]).toEqual([['all', 'half'], ['thanks']])
  })
})

// A played host with windows acknowledges nothing, so that the end of a client without waits for it.
describe.each(PAIRS.filter(({ host, client }) => host !== KINDS[0] || client === KINDS[0]))(
  'a host with $host and a client with $client, again',
  (kinds) => {
    it('leave nothing of circuits that end without a closed direction, however many come one after the other', async () => {
      const world = await edgeWorld()
      const { client, dial } = await playPair(world, kinds, (end) => end.write('answer'))
      for (let round = 0; round < times(200, 20); round += 1) {
        const before = client.heard.length
        const end = await dial()
        end.start()
        end.write('question')
        await until(() => client.heard.length > before)
        end.leave('close')
        await until(async () => (await circuits(world)) === 0)
      }
      expect(await circuits(world)).toBe(0)
    })
  },
)
