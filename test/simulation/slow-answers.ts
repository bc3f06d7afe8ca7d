import type { FAULTS } from './faults.ts'
import type { PlayedRouter } from './played-router.ts'
import type { World } from './world.ts'

/** Milliseconds that a message of a slow process takes longer: question and answer together take less than others wait. */
const SLOW_ANSWER_MS = { least: 1300, spread: 1000 }
/** Milliseconds for which it is slow. */
const SLOW_FOR_MS = 6000
/** Milliseconds until circuits have gone around a link that broke, and until a new link is known. */
const AROUND_MS = 1000
const LINKED_MS = 100

/**
 * The faults of networks in which a process is slow to answer. A process asks the others whose circuits its router names. Meanwhile
 * another one connects again, or a circuit takes another way.
 */
export const SLOW_ANSWER_FAULTS: typeof FAULTS = {
  'process slow to answer': {
    weight: 24,
    act: (world, choices) => {
      const { processes, routers, time, wires } = world
      const server = routers.find(({ isConnected, hosted }) => isConnected && hosted.size > 0)
      const asking = world.processNamed(server?.home)
      const others = processes.filter((process) => process !== asking)
      const [slow, lost] = choices.happens(0.5) ? others : others.toReversed()
      if (server === undefined || asking === undefined || slow === undefined || lost === undefined) return
      const connectsAgain = choices.happens(0.3)
      const askedInMs = 100 + choices.below(1000)
      const slowMs = SLOW_ANSWER_MS.least + choices.below(SLOW_ANSWER_MS.spread)
      const setSlow = (ms: number) => {
        for (const wire of wires.between(asking.name, slow.name)) wire.slowMs = ms
      }
      const begin = () => {
        world.fault('process slow to answer', `${slow.name} to ${asking.name}`)
        setSlow(slowMs)
        if (connectsAgain) for (const wire of wires.between(asking.name, lost.name)) wire.end()
        world.later(askedInMs, () => server.confirm(['circuit-of-nobody']))
        time.after(SLOW_FOR_MS, () => {
          setSlow(0)
          world.faultAt = time.now
        })
      }
      if (connectsAgain) begin()
      else goAround(world, server, { begin, isBackInMs: askedInMs + 100 + choices.below(500) })
    },
  },
}

/** Circuits to a router take a way around, and are on the straight way again some time after something else began. */
function goAround(
  world: World,
  server: PlayedRouter,
  { begin, isBackInMs }: { readonly begin: () => void; readonly isBackInMs: number },
): void {
  const [client, middle] = world.routers.filter((router) => router !== server)
  if (client === undefined || middle === undefined) {
    begin()
    return
  }
  const breakLink = (one: PlayedRouter, other: PlayedRouter) => {
    one.cut(other.id)
    other.cut(one.id)
  }
  client.link(middle)
  middle.link(server)
  breakLink(client, server)
  world.later(AROUND_MS, () => {
    begin()
    world.later(isBackInMs, () => {
      client.link(server)
      world.later(LINKED_MS, () => breakLink(client, middle))
    })
  })
}
