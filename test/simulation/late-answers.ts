import type { Choices } from './choices.ts'
import type { FAULTS } from './faults.ts'
import type { PlayedRouter } from './played-router.ts'
import { setDisabled } from './router-acts.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { OPERATOR, type World } from './world.ts'

/** The most milliseconds of an answer, and for how long answers are late. */
const MOST_MS = 1500
const LATE_FOR_MS = 2500
/** Milliseconds in which a process begins to read what a router that was admitted has to know, and until that is answered at the most. */
const READ_WITHIN_MS = 40
const LIST_MS = 3000
const SOON_MS = 300
/** Milliseconds until a channel that a router closed is over. */
const LEFT_MS = 100

/**
 * The faults of networks in which answers of the store are late: a process acts by what was so a moment ago. A router connects meanwhile,
 * and other processes write what concerns it.
 */
export const LATE_ANSWER_FAULTS: typeof FAULTS = {
  'router is admitted by a late answer': {
    weight: 12,
    act: (world, choices) =>
      comes(world, choices, 'router is admitted by a late answer', ({ router, process, connect }) => {
        answerLate(world, process, { mostMs: MOST_MS, forMs: LATE_FOR_MS })
        world.work(`${router.name} comes to ${process.name}`, connect())
        world.later(choices.below(MOST_MS), () => setDisabled(world, choices, router, true))
      }),
  },
  'router is told of sessions by a late answer': {
    weight: 12,
    act: (world, choices) =>
      comes(world, choices, 'router is told of sessions by a late answer', ({ router, process, other, connect }) => {
        const begunInMs = choices.below(SOON_MS)
        const connected = connect().then((isAdmitted) => {
          if (!isAdmitted) return false
          answerLate(world, process, { mostMs: LIST_MS, forMs: READ_WITHIN_MS })
          world.later(begunInMs, () => world.work(`a caller comes to ${other.name}`, call(world, other)))
          return true
        })
        world.work(`${router.name} comes to ${process.name}`, connected)
      }),
  },
}

interface Coming {
  readonly router: PlayedRouter
  readonly process: SimulatedProcess
  readonly other: SimulatedProcess
  connect(): Promise<boolean>
}

/** A router leaves, and comes to a process as soon as its former channel is over. */
function comes(world: World, choices: Choices, fault: string, then: (coming: Coming) => void): void {
  const process = choices.pick(world.runningProcesses)
  const other = choices.pick(world.runningProcesses.filter((one) => one !== process))
  const router = choices.pick(world.routers)
  if (process === undefined || other === undefined || router === undefined) return
  world.fault(fault, `${router.name} to ${process.name}`)
  router.disconnect()
  world.later(LEFT_MS, () => then({ router, process, other, connect: () => router.connect(process) }))
}

/** The store answers the reads that a process begins from now on late. */
function answerLate(
  world: World,
  { faults }: SimulatedProcess,
  { mostMs, forMs }: { readonly mostMs: number; readonly forMs: number },
): void {
  faults.answersLateMs = mostMs
  world.time.after(forMs, () => {
    faults.answersLateMs = 0
    world.faultAt = world.time.now
  })
}

/** A session begins, and stays. */
async function call(world: World, process: SimulatedProcess): Promise<void> {
  await process.beginSession(world.devices.get(OPERATOR) ?? '')
}
