import { type AllHeld, openBystander, openDoors } from './doors.ts'
import { type Facts, readFacts } from './facts.ts'
import { type Fiat, Judge } from './oracle.ts'
import { openScene, type Scene } from './scene.ts'
import type { Process, ProcessName } from './two-processes.ts'
import type { Network, Way } from './ways.ts'

/** Everything at hand while something ends. */
export interface Stage extends Scene {
  /** The process at which it is ended. */
  readonly by: Process
  /** The holdings of the subject, by the process that made them. */
  readonly held: AllHeld
  /** Asks as the administrator. Throws for a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
  admin(method: string, path: string, body?: unknown): Promise<any>
  /** Notes what an administrator sees now, for an ending of several steps. */
  see(): Promise<void>
}

/** A row of the table: how something ends, for whom, and what an administrator does not see of it. */
export interface Ending {
  readonly name: string
  readonly ways: readonly Way[]
  /** When the subject logs in: epoch ms. */
  startsAt?(network: Network): number
  /** Preparations before the subject logs in. */
  prepare?(scene: Scene): Promise<unknown>
  /** The parts that it ends by itself, which no administrator sees. */
  readonly ends?: readonly Fiat[]
  end(stage: Stage): Promise<unknown>
  /** Whether others lose the same. */
  readonly isForAll?: boolean
  /** It is told by itself alone: what comes before or after it would be judged wrongly. */
  readonly isOfItself?: boolean
}

/** One answer of one door after one ending. */
export interface Cell {
  readonly ending: string
  readonly way: Way
  readonly column: string
  readonly made: string
  readonly at: string
  readonly expected: boolean
  /** Whether what is refused is let in again once a factor is proved. */
  readonly waits: boolean
  readonly seen: boolean
}

/** Whatever ends has ended within this time of the clock that the test turns. */
const PROMISED_MS = 2000

/** How the table is asked. */
export interface Asked {
  /** The process at which something is ended. */
  readonly by: ProcessName
  /** Whether every process is asked with what every process made, or each with what another one made. */
  readonly isFull: boolean
}

/** Opens every door, ends something, and asks at every door. */
export async function cellsOf(
  network: Network,
  ending: Ending,
  way: Way,
  { by, isFull }: Asked,
): Promise<readonly Cell[]> {
  const scene = await openScene(network, way, ending.startsAt?.(network))
  try {
    await ending.prepare?.(scene)
    const { doors, held } = await openDoors(scene)
    const bystander = await openBystander(scene)
    const { stage, history } = stageOf(scene, by, held)
    await stage.see()
    await ending.end(stage)
    const fiats = ending.ends ?? []
    await scene.elapse(PROMISED_MS)
    history.push(await readFacts(scene.process(fiats.includes('process-A') ? 'B' : by), scene))
    const judge = new Judge(network, scene.subject, history, fiats)
    const ofOthers = ending.isForAll ? fiats : fiats.filter((fiat) => GLOBAL.includes(fiat))
    const other = new Judge(network, bystander.subject, history, ofOthers)
    const asked = [
      ...doors
        .filter(({ how, made, at }) => isFull || how === 'looked at' || made !== at)
        .map((door) => ({ door, judge })),
      ...bystander.doors.map((door) => ({ door, judge: other })),
    ]
    const cells: Cell[] = []
    for (const { door, judge: asking } of asked) {
      const { column, made, at, how } = door
      if (at === 'A' && fiats.includes('process-A')) continue
      const expected = door.expects(asking)
      // Whether it is let in or not: what is open to both is not asked.
      if (expected === undefined) continue
      const isWaiting = () => (made === undefined ? asking.waitsAnew() : asking.waits(made))
      const waits = !expected && how !== 'looked at' && isWaiting()
      cells.push({ ending: ending.name, way, column, made: made ?? '', at, expected, waits, seen: await door.ask() })
    }
    return cells
  } finally {
    await scene.close()
  }
}

/** Endings that concern others too. */
const GLOBAL: readonly Fiat[] = ['channels-r1', 'channels-r2', 'process-A', 'clients']

export function stageOf(scene: Scene, by: ProcessName, held: Stage['held']) {
  const history: Facts[] = []
  const stage: Stage = {
    ...scene,
    by: scene.process(by),
    held,
    admin: (method, path, body) => scene.process(by).told(method, path, body),
    see: async () => void history.push(await readFacts(scene.process(by), scene)),
  }
  return { stage, history }
}
