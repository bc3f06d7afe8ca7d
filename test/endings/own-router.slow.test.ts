import { expect, it } from 'vitest'
import { openDoors } from './doors.ts'
import { type Ending, stageOf } from './ending.ts'
import { ENDINGS } from './endings.ts'
import { readFacts } from './facts.ts'
import { Judge } from './oracle.ts'
import { openOwnPlane } from './own-plane.ts'
import { openScene } from './scene.ts'
import { PROCESSES } from './two-processes.ts'
import { buildNetwork, type Way } from './ways.ts'

const network = await buildNetwork()
/** An SDK uses its session all the while, and its router is gone with the process. */
const CONCERNED = ENDINGS.filter(
  ({ ends = [], startsAt }) => !ends.includes('time') && !ends.includes('process-A') && startsAt === undefined,
)
const CASES = CONCERNED.map((ending, index) => {
  const way = ending.ways[index % ending.ways.length] ?? 'password'
  return [ending.name, way, PROCESSES[index % PROCESSES.length] ?? 'A', ending] as const
})

async function wrongAfter(ending: Ending, way: Way, by: (typeof PROCESSES)[number]): Promise<readonly string[]> {
  const scene = await openScene(network, way)
  const own = await openOwnPlane(scene)
  try {
    await ending.prepare?.(scene)
    const { held } = await openDoors(scene)
    const doors = await own.open(held)
    const { stage, history } = stageOf(scene, by, held)
    await stage.see()
    await ending.end(stage)
    await scene.elapse(2000)
    history.push(await readFacts(scene.process(by), scene))
    const judge = new Judge(network, scene.subject, history, ending.ends ?? [])
    const wrong: string[] = []
    for (const door of doors) {
      const expected = door.expects(judge)
      if (expected === undefined) continue
      const seen = await door.ask()
      if (seen !== expected) wrong.push(`${door.column} is ${seen ? 'open' : 'shut'}`)
    }
    return wrong
  } finally {
    await own.close()
    await scene.close()
  }
}

it.each(CASES)(
  '%s (%s, at %s): the own router and the SDKs at it say what the facts say',
  async (_name, way, by, ending) => {
    expect(await wrongAfter(ending, way, by)).toEqual([])
  },
  120_000,
)
