// Plays networks from seeds: `npm run simulate -- --seed 7`, `--seeds 1..1000`, `--steps 60`, `--minutes 10`, `--trace`, `--digests`.
import { argv } from 'node:process'
import { parseArgs } from 'node:util'
import { makeCryptoRepeatable } from './repeatable-crypto.ts'
import { play, scriptOf, shrunk } from './run.ts'
import { FAULTS } from './steps.ts'

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1..100' },
    steps: { type: 'string', default: '60' },
    minutes: { type: 'string' },
    trace: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
  },
})

const clock = performance.now.bind(performance)
const begun = clock()
const [from = 1, to = from] = (values.seed ?? values.seeds).split('..').map(Number)
const steps = Number(values.steps)
const most = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes) * 60_000
const faults = new Map<string, number>(Object.keys(FAULTS).map((name) => [name, 0]))
const total = { runs: 0, failed: 0, acknowledged: 0, circuits: 0, bytes: 0 }

makeCryptoRepeatable()
// The first run loads what later ones find loaded: its trace counts for nothing.
await play(0, scriptOf(0, 20))

for (let seed = from; seed <= to && clock() - begun < most; seed += 1) {
  const script = scriptOf(seed, steps)
  const outcome = await play(seed, script)
  total.runs += 1
  total.acknowledged += outcome.acknowledged
  total.circuits += outcome.circuits
  total.bytes += outcome.bytes
  for (const [kind, count] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + count)
  if (values.digests) console.log(`${seed} ${outcome.digest} ${outcome.trace.length}`)
  if (values.trace) console.log(outcome.trace.join('\n'))
  if (outcome.failure !== undefined) {
    total.failed += 1
    const { step, oracle } = outcome.failure
    console.log(`seed ${seed}, step ${step} of ${steps}: ${oracle}`)
    const shortest = await shrunk(seed, script.slice(0, step + 1), outcome.failure)
    console.log(
      `  ${shortest.length} steps suffice: ${shortest.map(({ name, seed: own, passMs }) => `${name} (${own}) +${passMs}`).join(', ')}`,
    )
    for (const line of outcome.trace.slice(-12)) console.log(`  ${line}`)
  }
  if (total.runs % 50 === 0) console.error(`${total.runs} runs, ${perSecond()} a second, ${total.failed} failed`)
}

function perSecond(): string {
  return (total.runs / ((clock() - begun) / 1000)).toFixed(1)
}

const missing = [...faults].filter(([, count]) => count === 0).map(([name]) => name)
console.log(`${total.runs} runs, ${perSecond()} a second: ${JSON.stringify(total)}`)
console.log(`faults: ${JSON.stringify(Object.fromEntries(faults))}`)
// A fault that never occurs was not tried; a few runs cannot have them all.
const isIncomplete = total.runs >= 50 && missing.length > 0
if (isIncomplete) console.log(`these faults never occurred: ${missing.join(', ')}`)
process.exitCode = total.failed > 0 || isIncomplete ? 1 : 0
