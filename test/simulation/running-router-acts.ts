import { type ACTS, dialed } from './acts.ts'
import type { FAULTS } from './faults.ts'
import { judged } from './rights-held.ts'
import { ROUTER_ACTS } from './router-acts.ts'
import { key } from './wires.ts'
import type { World } from './world.ts'

/** A device reached a host by a router of a program of its own. */
export const AT_OWN_ROUTER = 'stream at the own router'
const CUT_OFF_MS = 15_000
const VISITS = 'caller comes and goes'

/** Callers begin and end sessions, also in networks whose played routers do not learn of them. */
export const VISITING_ACTS: typeof ACTS = { [VISITS]: ROUTER_ACTS[VISITS] ?? { weight: 0, act: () => undefined } }

/** The acts of networks with links between own routers, and a router of a program of its own. */
export const RUNNING_ROUTER_ACTS: typeof ACTS = {
  'device dials at the own router': {
    weight: 8,
    act: (world) => {
      const { running, devices } = world
      if (running === undefined) return
      const laptop = devices.get('laptop') ?? ''
      const identity = running.identity(laptop, () => world.runningProcesses)
      const asked = dialed(world, identity, running.name).then((answer) => {
        world.did(AT_OWN_ROUTER)
        return answer
      })
      const by = { identity: laptop, right: 'Dial', what: 'the device at the own router' } as const
      world.work(
        'a device dials at the own router',
        judged(world, by, asked, () => true),
      )
    },
  },
}

/** The faults of networks with a router of a program of its own: it loses one process or all of them, with or without a word. */
export const RUNNING_ROUTER_FAULTS: typeof FAULTS = {
  'own router cut off': {
    weight: 6,
    act: (world, choices) => {
      const { processes, wires } = world
      const one = choices.pick(processes)
      const lost = choices.happens(0.5) ? processes : processes.filter((process) => process === one)
      const [isSilent, lastsMs] = [choices.happens(0.5), choices.below(CUT_OFF_MS)]
      for (const { name } of lost) {
        world.fault('own router cut off', `from ${name}${isSilent ? ' in silence' : ''}`)
        if (isSilent) silence(world, name, lastsMs)
        else {
          const apart = key(name, world.running?.name ?? '')
          wires.refused.add(apart)
          for (const wire of wires.between(name, world.running?.name ?? '')) wire.reset(1)
          world.time.after(lastsMs, () => {
            wires.refused.delete(apart)
            world.faultAt = world.time.now
          })
        }
      }
    },
  },
}

/** Messages of the process do not reach the router for some time, nor those of the router the process. */
function silence(world: World, process: string, lastsMs: number): void {
  const { wires, time } = world
  const router = world.running?.name ?? ''
  wires.silence(process, router)
  wires.silence(router, process)
  time.after(lastsMs, () => {
    wires.hear(process, router)
    wires.hear(router, process)
    world.faultAt = time.now
  })
}
