// Plays networks from seeds: `npm run simulate -- --seed 7`, `--seeds 1..1000`, `--steps 60`, `--minutes 10`, `--cores 2`, `--trace`,
// `--digests`, `--no-shrink`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { argv } from 'node:process'
import { parseArgs } from 'node:util'
import { OVER_A_LINK } from './acts.ts'
import { IN_PIECES } from './cut-bytes.ts'
import { FAULTS_AFTER_COMMITS } from './faults.ts'
import { makeCryptoRepeatable } from './repeatable-crypto.ts'
import { POSSIBLE_FAULTS, play, scriptOf, shrunk } from './run.ts'
import { CAME_AGAIN } from './running-router.ts'
import { AT_OWN_ROUTER } from './running-router-acts.ts'

const { values } = parseArgs({
  args: argv.slice(2),
  allowNegative: true,
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1..100' },
    steps: { type: 'string', default: '60' },
    minutes: { type: 'string' },
    cores: { type: 'string', default: '1' },
    // This process plays only the seeds of one core, and reports its total to the process that began it.
    core: { type: 'string' },
    shrink: { type: 'boolean', default: true },
    trace: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
  },
})

/** The sum of a run. */
interface Total {
  runs: number
  failed: number
  acknowledged: number
  circuits: number
  bytes: number
  readonly faults: Record<string, number>
  readonly acts: Record<string, number>
}

/** The effects of acts that are not in every network. */
const EFFECTS = [
  'attribute granted',
  'grant ended before its time',
  'login with claims',
  'login ended before its time',
  'signer disabled',
  'router disabled',
  'session ended soon',
  IN_PIECES,
  OVER_A_LINK,
  AT_OWN_ROUTER,
  CAME_AGAIN,
]

const clock = performance.now.bind(performance)
const begun = clock()
const [from = 1, to = from] = (values.seed ?? values.seeds).split('..').map(Number)
const steps = Number(values.steps)
const cores = Number(values.cores)
const most = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes) * 60_000

const nothing = (): Total => ({ runs: 0, failed: 0, acknowledged: 0, circuits: 0, bytes: 0, faults: {}, acts: {} })

function add(total: Total, other: Total): void {
  for (const name of ['runs', 'failed', 'acknowledged', 'circuits', 'bytes'] as const) total[name] += other[name]
  for (const name of ['faults', 'acts'] as const)
    for (const [kind, count] of Object.entries(other[name])) total[name][kind] = (total[name][kind] ?? 0) + count
}

/** Plays each seed that falls to a core. */
async function playSeeds(core: number): Promise<Total> {
  makeCryptoRepeatable()
  // The first run loads what later ones find loaded: its trace counts for nothing.
  await play(0, scriptOf(0, 20))
  const total = nothing()
  for (let seed = from + core; seed <= to && clock() - begun < most; seed += cores) {
    add(total, await playSeed(seed))
    if (total.runs % 50 === 0) console.error(`${total.runs} runs, ${perSecond(total)} a second, ${total.failed} failed`)
  }
  return total
}

async function playSeed(seed: number): Promise<Total> {
  const script = scriptOf(seed, steps)
  const { failure, digest, trace, faults, acts, ...counts } = await play(seed, script)
  if (values.digests) console.log(`${seed} ${digest} ${trace.length}`)
  if (values.trace) console.log(trace.join('\n'))
  if (failure !== undefined) {
    const tried = script.slice(0, failure.step + 1)
    const shortest = values.shrink ? await shrunk(seed, tried, failure) : tried
    const named = shortest.map(({ name, seed: own, passMs }) => `${name} (${own}) +${passMs}`)
    const lines = [
      `seed ${seed}, step ${failure.step} of ${steps}: ${failure.oracle}`,
      `  ${shortest.length} steps suffice: ${named.join(', ')}`,
      ...trace.slice(-12).map((line) => `  ${line}`),
    ]
    console.log(lines.join('\n'))
  }
  const occurred = { faults: Object.fromEntries(faults), acts: Object.fromEntries(acts) }
  return { ...counts, runs: 1, failed: failure === undefined ? 0 : 1, ...occurred }
}

/** Plays the seeds on several cores, in a process for each. */
async function playOnCores(): Promise<Total> {
  const total = nothing()
  const playing = Array.from({ length: cores }, async (_, core) => {
    const child = fork(import.meta.filename, [...argv.slice(2), '--core', String(core)])
    child.on('message', (message) => add(total, message as Total))
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`the process of core ${core} ended with ${code}`)
  })
  await Promise.all(playing)
  return total
}

function perSecond({ runs }: Total): string {
  return (runs / ((clock() - begun) / 1000)).toFixed(1)
}

function report(total: Total): void {
  const { faults: occurred, acts: done, ...counts } = total
  const named = Object.keys(POSSIBLE_FAULTS)
  const faults = Object.fromEntries([...named, ...FAULTS_AFTER_COMMITS].map((name) => [name, occurred[name] ?? 0]))
  const acts = Object.fromEntries(EFFECTS.map((name) => [name, done[name] ?? 0]))
  console.log(`${total.runs} runs, ${perSecond(total)} a second: ${JSON.stringify(counts)}`)
  console.log(`faults: ${JSON.stringify(faults)}`)
  console.log(`acts: ${JSON.stringify(acts)}`)
  const missing = Object.entries({ ...faults, ...acts }).flatMap(([name, count]) => (count === 0 ? [name] : []))
  // A fault or an act that never occurs is not tried; a few runs cannot have them all.
  const isIncomplete = total.runs >= 40 && missing.length > 0
  if (isIncomplete) console.log(`these never occurred: ${missing.join(', ')}`)
  process.exitCode = total.failed > 0 || isIncomplete ? 1 : 0
}

if (values.core !== undefined) process.send?.(await playSeeds(Number(values.core)), () => process.disconnect())
else report(cores > 1 ? await playOnCores() : await playSeeds(0))
