import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { openDoors } from './doors.ts'
import { type Ending, stageOf } from './ending.ts'
import { ENDINGS } from './endings.ts'
import { readFacts } from './facts.ts'
import { type Fiat, Judge } from './oracle.ts'
import { RESTORATIONS } from './rows/restorations.ts'
import { openScene } from './scene.ts'
import { PROCESSES, type ProcessName } from './two-processes.ts'
import { buildNetwork, WAYS, type Way } from './ways.ts'

const network = await buildNetwork()
/** Endings that can come after anything else: they need no beginning of their own, and both processes go on. */
const STEPS = [...ENDINGS, ...RESTORATIONS].filter(
  ({ startsAt, prepare, ends = [], isOfItself }) =>
    startsAt === undefined && prepare === undefined && !isOfItself && !ends.includes('process-A'),
)

interface Step {
  readonly ending: Ending
  readonly by: ProcessName
}

const anySteps = (way: Way) => {
  const ending = fc.constantFrom(...STEPS.filter(({ ways }) => ways.includes(way)))
  return fc.record({
    way: fc.constant(way),
    steps: fc.array(fc.record({ ending, by: fc.constantFrom(...PROCESSES) }), { minLength: 2, maxLength: 5 }),
  })
}

/** Lets one thing after the other end, and be given back; answers what was wrong at any door. */
async function wrongAfter(way: Way, steps: readonly Step[]): Promise<readonly string[]> {
  const scene = await openScene(network, way)
  try {
    const { doors, held } = await openDoors(scene)
    const { stage, history } = stageOf(scene, 'A', held)
    const fiats = new Set<Fiat>()
    await stage.see()
    for (const { ending, by } of steps) {
      const at = { ...stage, by: scene.process(by), admin: scene.process(by).told.bind(scene.process(by)) }
      // An ending that is over already, or gone, cannot happen again.
      const isDone = await ending.end(at).then(
        () => true,
        () => false,
      )
      for (const fiat of isDone ? (ending.ends ?? []) : []) fiats.add(fiat)
      await scene.elapse(2000)
      history.push(await readFacts(scene.process('B'), scene))
    }
    const judge = new Judge(network, scene.subject, history, fiats)
    const wrong: string[] = []
    for (const door of doors) {
      const expected = door.expects(judge)
      if (expected === undefined) continue
      const seen = await door.ask()
      if (seen !== expected) wrong.push(`${door.column} ${door.made}>${door.at} is ${seen ? 'open' : 'shut'}`)
    }
    return wrong
  } finally {
    await scene.close()
  }
}

it(
  'whatever ended, one after the other and given back or not, every door says what the facts and their past say',
  async () => {
    const anything = fc.constantFrom(...WAYS).chain(anySteps)
    await fc.assert(
      fc.asyncProperty(anything, async ({ way, steps }) => {
        expect(
          await wrongAfter(way, steps),
          steps.map(({ ending, by }) => `${ending.name} at ${by}`).join('; '),
        ).toEqual([])
      }),
      runs(60, 4),
    )
  },
  patience(600_000),
)
