import type { FAULTS } from './faults.ts'
import type { PlayedRouter } from './played-router.ts'
import { routerDials } from './rights-held.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { key } from './wires.ts'
import { WITHOUT_ROUTER, type World } from './world.ts'

/** Milliseconds after which a process that was cut off does not count as about to connect. */
const LONG_MS = 31_000
const SPREAD_MS = 4000
/** Milliseconds until the other processes have heard of a router that moved. */
const HEARD_MS = 2000
/** Milliseconds after which a process that lost another one connects to it again, at the least. */
const AGAIN_MS = 900

/** The faults of networks in which processes own circuits over routers of a process that does not reach them. */
export const CUT_OFF_FAULTS: typeof FAULTS = {
  'process cut off for long': {
    weight: 16,
    act: (world, choices) => {
      const { server, holder } = hostOf(world)
      const owner = choices.pick(world.processes.filter(({ name }) => name !== WITHOUT_ROUTER && name !== server?.home))
      if (server === undefined || holder === undefined || owner === undefined) return
      const apart = key(holder.name, owner.name)
      world.fault('process cut off for long', apart)
      world.wires.refused.add(apart)
      for (const wire of world.wires.between(holder.name, owner.name)) wire.end()
      const lastsMs = LONG_MS + choices.below(SPREAD_MS)
      world.later(lastsMs, () => server.confirm())
      world.time.after(lastsMs + HEARD_MS, () => {
        world.wires.refused.delete(apart)
        world.faultAt = world.time.now
      })
    },
  },
  'process without routers connects again': {
    weight: 12,
    act: (world, choices) => {
      const { server, holder } = hostOf(world)
      const owner = world.processNamed(WITHOUT_ROUTER)
      const client = world.routers.find((router) => router !== server && router.isConnected)
      if (server === undefined || holder === undefined || owner?.isRunning !== true || client === undefined) return
      const confirmedInMs = choices.below(AGAIN_MS)
      const lose = () => {
        world.fault('process without routers connects again', owner.name)
        for (const wire of world.wires.between(holder.name, owner.name)) wire.end()
        world.later(confirmedInMs, () => server.confirm())
      }
      const visited = visit(world, client, owner).then(() => world.later(HEARD_MS, lose))
      world.work(`${client.name} dials at ${owner.name} and moves on`, visited)
    },
  },
}

/** A router that hosts, and the process that it is connected to. */
function hostOf(world: World) {
  const server = world.routers.find(({ isConnected, hosted }) => isConnected && hosted.size > 0)
  return { server, holder: world.processNamed(server?.home) }
}

/** A router dials at a process, and comes back: its circuit is that of a process without routers. */
async function visit(world: World, client: PlayedRouter, owner: SimulatedProcess): Promise<void> {
  const home = world.processNamed(client.home)
  const heard = () => new Promise<void>((resolve) => world.time.after(HEARD_MS, resolve))
  await client.connect(owner)
  await heard()
  routerDials(world, client)
  await heard()
  if (home !== undefined) await client.connect(home)
}
