import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { until } from '../support/edge-world.ts'
import { type LinkedWorld, linkedWorld } from '../support/linked-world.ts'
import {
  arrivals,
  ENDINGS,
  isText,
  KINDS,
  type Kinds,
  type Leaving,
  PAIRS,
  type PlayedEnd,
  playPair,
} from '../support/played-ends.ts'
import { times } from '../support/property-runs.ts'

/** Milliseconds by which the router of each end hears late of a circuit. */
interface Lateness {
  readonly client: number
  readonly host: number
}

/** A host and a client at two routers, which are asked for circuits late. */
async function playFar(kinds: Kinds, late: Lateness, dialed: (end: PlayedEnd) => void) {
  let world: LinkedWorld | undefined
  world = await linkedWorld({
    holdTo: async (routerId, { type }) => {
      if (type === 'route') await sleep(routerId === world?.other.id ? late.host : late.client)
    },
  })
  const { other, close } = world
  return { close, ...(await playPair(world, kinds, dialed, { host: other })) }
}

const TEXTS = ['one', 'two', 'three']

interface Ending {
  readonly leaving: Leaving
  readonly isHalfClosed: boolean
}

function sayAndLeave(end: PlayedEnd, { leaving, isHalfClosed }: Ending): void {
  for (const text of TEXTS) end.write(text)
  if (isHalfClosed) end.halfClose()
  end.leave(leaving)
}

describe('ends at two routers', () => {
  const orders = [
    { last: 'client', late: { client: 200, host: 0 } },
    { last: 'host', late: { client: 0, host: 100 } },
  ]

  it.each(orders)(
    'bring a client all that the host writes behind its answer where the router of the $last is last',
    {
      timeout: 60_000,
    },
    async ({ late }) => {
      const cases = KINDS.flatMap((client) => ENDINGS.map((ending) => ({ client, ...ending })))
      const results = cases.map(async ({ client: kind, ...ending }) => {
        const kinds = { host: KINDS[0], client: kind }
        const pair = await playFar(kinds, late, (end) => sayAndLeave(end, ending))
        ;(await pair.dial()).start()
        const heard = () => arrivals(pair.client, 'initiator')
        await until(() => heard().at(-1) === 'end')
        await pair.close()
        return { kind, ending, heard: heard().filter(isText) }
      })
      const all = await Promise.all(results)
      expect(all).toEqual(all.map((result) => ({ ...result, heard: TEXTS })))
    },
  )

  const lateness = fc.integer({ min: 0, max: 150 })
  const played = fc.record({
    kinds: fc.constantFrom(...PAIRS),
    late: fc.record({ client: lateness, host: lateness }),
    leaver: fc.constantFrom('host' as const, 'client' as const),
    ending: fc.constantFrom(...ENDINGS),
    startsAfterMs: fc.integer({ min: 0, max: 50 }),
  })

  it('lose nothing of the one that leaves, in whatever order routes, writes, closes and starts come', {
    timeout: 120_000,
  }, async () => {
    const results = fc.sample(played, times(12)).map(async ({ kinds, late, leaver, ending, startsAfterMs }) => {
      const isHost = leaver === 'host'
      const pair = await playFar(kinds, late, (end) => isHost && sayAndLeave(end, ending))
      const started = await pair.dial()
      await sleep(startsAfterMs)
      started.start()
      if (!isHost) sayAndLeave(started, ending)
      const heard = () => (isHost ? arrivals(pair.client, 'initiator') : arrivals(pair.host, 'terminator'))
      await until(() => heard().at(-1) === 'end')
      await pair.close()
      return { kinds, late, leaver, ending, heard: heard().filter(isText) }
    })
    const all = await Promise.all(results)
    expect(all).toEqual(all.map((result) => ({ ...result, heard: TEXTS })))
  })
})
