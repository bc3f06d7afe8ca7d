import type { Act } from './acts.ts'
import { beginDevices } from './acts.ts'
import type { Choices } from './choices.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { key } from './wires.ts'
import type { World } from './world.ts'

const LONG_MS = 3000
const START_AGAIN_MS = 1000
/** The type of a message that a controller reads, with a body that it cannot read. */
const HOSTILE_TYPE = 1001

/** The faults of a run. Each ends by itself. */
export const FAULTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'reset at any byte': {
    weight: 4,
    act: (world, choices) => {
      const wire = choices.pick([...world.wires.open])
      if (wire === undefined) return
      world.fault('reset at any byte', wire.ends.join('~'))
      wire.reset(choices.fraction())
    },
  },
  'slow connection': {
    weight: 3,
    act: (world, choices) => {
      const wire = choices.pick([...world.wires.open])
      if (wire === undefined) return
      world.fault('slow connection', wire.ends.join('~'))
      wire.slowMs = choices.below(LONG_MS)
      world.time.after(LONG_MS, () => {
        wire.slowMs = 0
        world.faultAt = world.time.now
      })
    },
  },
  'silence one way': {
    weight: 2,
    act: (world, choices) => {
      const wire = choices.pick([...world.wires.open])
      if (wire === undefined) return
      const side = choices.below(2)
      world.fault('silence one way', `${wire.ends.join('~')} ${side}`)
      wire.silent.add(side)
      world.time.after(choices.below(40_000), () => {
        wire.silent.clear()
        world.faultAt = world.time.now
      })
    },
  },
  partition: {
    weight: 4,
    act: (world, choices) => {
      const pair = drawPair(world, choices)
      if (pair === undefined) return
      const apart = key(...pair)
      world.fault('partition', apart)
      world.wires.refused.add(apart)
      for (const wire of world.wires.between(...pair)) wire.reset(1)
      world.time.after(choices.below(20_000), () => {
        world.wires.refused.delete(apart)
        world.faultAt = world.time.now
      })
    },
  },
  'partition in silence': {
    weight: 4,
    act: (world, choices) => {
      const pair = drawPair(world, choices)
      if (pair === undefined) return
      const [one, other] = pair
      const isBothWays = choices.happens(0.5)
      const { wires, time } = world
      world.fault('partition in silence', `${one}>${other} ${isBothWays ? 'and back' : ''}`)
      wires.silence(one, other)
      if (isBothWays) wires.silence(other, one)
      // Connections outlive a short silence.
      time.after(choices.below(choices.happens(0.5) ? 4000 : 20_000), () => {
        wires.hear(one, other)
        wires.hear(other, one)
        world.faultAt = time.now
      })
    },
  },
  'process killed': {
    weight: 2,
    act: (world, choices) => {
      const process = choices.pick(world.runningProcesses)
      if (process === undefined || world.runningProcesses.length < world.processes.length) return
      killForSomeTime(world, choices, process, 'process killed')
    },
  },
  'storage late': {
    weight: 3,
    act: (world, choices) => {
      const process = choices.pick(world.processes)
      if (process === undefined) return
      world.fault('storage late', process.name)
      process.faults.slowMs = 1 + choices.below(500)
      world.time.after(LONG_MS, () => {
        process.faults.slowMs = 0
        world.faultAt = world.time.now
      })
    },
  },
  'storage fails before the commit': {
    weight: 2,
    act: (world, choices) => failNextWrite(world, choices, 'before'),
  },
  'storage fails after the commit': {
    weight: 2,
    act: (world, choices) => failNextWrite(world, choices, 'after'),
  },
  'storage away': {
    weight: 2,
    act: (world, choices) => {
      const process = choices.pick(world.processes)
      if (process === undefined) return
      world.fault('storage away', process.name)
      process.faults.isAway = true
      world.time.after(choices.below(5000), () => {
        process.faults.isAway = false
        world.faultAt = world.time.now
      })
    },
  },
  'storage takes no changes': {
    weight: 5,
    act: (world, choices) => {
      const { time, facts } = world
      // Often just as a term ends: nobody can write then that it is over.
      const end = choices.pick(facts.endsAfter(time.now).slice(0, 3))
      const beginsIn = end === undefined || choices.happens(0.3) ? 0 : Math.max(0, end - time.now - choices.below(500))
      const lastsMs = 500 + choices.below(4000)
      world.later(beginsIn, () => refuseChanges(world, lastsMs))
    },
  },
  'clock jumps': {
    weight: 2,
    act: (world, choices) => {
      const process = choices.pick(world.processes)
      if (process === undefined) return
      world.fault('clock jumps', process.name)
      process.jump(choices.below(2000) - process.aheadMs)
    },
  },
  'receiver fails': {
    weight: 2,
    act: (world, choices) => {
      world.fault('receiver fails', world.receiver.changeMood(choices))
      world.time.after(choices.below(LONG_MS), () => {
        world.receiver.mood = undefined
        world.faultAt = world.time.now
      })
    },
  },
  'hostile frame': {
    weight: 1,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => isConnected))
      if (router === undefined) return
      world.fault('hostile frame', router.name)
      if (choices.happens(0.5)) router.sendRaw(choices.bytes(20 + choices.below(100)))
      else router.send(HOSTILE_TYPE, choices.bytes(choices.below(100)))
    },
  },
}

/** The faults of networks with a directory. */
export const DIRECTORY_FAULTS: typeof FAULTS = {
  'directory away': { weight: 4, act: (world, choices) => failDirectory(world, choices, 'isAway') },
  'directory late': { weight: 3, act: (world, choices) => failDirectory(world, choices, 'isLate') },
}

/** The faults of networks with an external signer. */
export const SIGNER_FAULTS: typeof FAULTS = {
  'signer away': {
    weight: 3,
    act: (world, choices) => {
      world.fault('signer away', '')
      world.signer.isAway = true
      world.time.after(choices.below(10_000), () => {
        world.signer.isAway = false
        world.faultAt = world.time.now
      })
    },
  },
}

function failDirectory(world: World, choices: Choices, how: 'isAway' | 'isLate'): void {
  world.fault(how === 'isAway' ? 'directory away' : 'directory late', '')
  world.directory[how] = true
  world.time.after(choices.below(10_000), () => {
    world.directory[how] = false
    world.faultAt = world.time.now
  })
}

/** A process ends at once, and a supervisor starts it again. */
function killForSomeTime(world: World, choices: Choices, process: SimulatedProcess, fault: string): void {
  world.fault(fault, process.name)
  world.killedAt = world.time.now
  process.kill()
  const start = () => {
    process.faults.isAway = false
    process.faults.nextWrite = undefined
    world.faultAt = world.time.now
    void process
      .start()
      .then(() => beginDevices(world, process.name))
      .catch((error: unknown) => {
        world.note(`start: ${error}`)
        // As a supervisor does: another fault may come while it starts.
        world.time.after(START_AGAIN_MS, start)
      })
  }
  world.time.after(500 + choices.below(10_000), start)
}

/** Faults between the commit of a change and what follows from it, in networks with grants or claims. */
export const FAULTS_AFTER_COMMITS = [
  'process killed after a commit',
  'storage takes no changes after a commit',
] as const

/** Has a process fail just after it commits its next change, now and then. */
export function failAfterCommit(world: World, choices: Choices, process: SimulatedProcess): void {
  const { hasFaults, hasGrants, hasClaims } = world.manner
  if (!hasFaults || !(hasGrants || hasClaims) || world.isAtRest || !choices.happens(0.08)) return
  const [killed, refused] = FAULTS_AFTER_COMMITS
  const isKilled = choices.happens(0.5)
  const ms = 200 + choices.below(2000)
  process.faults.afterNextWrite = () => {
    if (!isKilled) {
      world.fault(refused, process.name)
      refuseChanges(world, ms)
    } else if (world.runningProcesses.length === world.processes.length)
      killForSomeTime(world, choices, process, killed)
  }
}

/** No process writes for some time. */
export function refuseChanges(world: World, forMs: number): void {
  const { processes, time } = world
  world.fault('storage takes no changes', `for ${forMs} ms`)
  for (const { faults } of processes) faults.takesNoChanges = true
  time.after(forMs, () => {
    for (const { faults } of processes) faults.takesNoChanges = false
    world.faultAt = time.now
  })
}

/** Two ends that lose each other: processes more often than a process and a router. */
function drawPair({ processes, routers }: World, choices: Choices): readonly [string, string] | undefined {
  const one = choices.pick(processes)
  const other = choices.pick((choices.happens(0.6) ? processes : routers).filter((end) => end !== one))
  return one && other && [one.name, other.name]
}

function failNextWrite(world: World, choices: Choices, when: 'before' | 'after'): void {
  const process = choices.pick(world.processes)
  if (process === undefined) return
  world.fault(`storage fails ${when} the commit`, process.name)
  process.faults.nextWrite = when
}
