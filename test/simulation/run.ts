import { createHash } from 'node:crypto'
import { simulateRuntime } from '../../src/testing.ts'
import { ACTS, type Act, beginDevices } from './acts.ts'
import { giveAtRest, settleLogins } from './attributes-at-rest.ts'
import { Choices } from './choices.ts'
import { CLAIM_ACTS } from './claim-acts.ts'
import { lengthenModel } from './cut-bytes.ts'
import { CUT_OFF_FAULTS } from './cut-off-processes.ts'
import { DIRECTORY_FAULTS, FAULTS, SIGNER_FAULTS } from './faults.ts'
import { GRANT_ACTS } from './grant-acts.ts'
import { LATE_ANSWER_FAULTS } from './late-answers.ts'
import { type Manner, mannerOf } from './manner.ts'
import { wrongAtRest, wrongInLists, wrongNow } from './oracles.ts'
import { directoryChanges, settleAll } from './played-directory.ts'
import { drawFrom } from './repeatable-crypto.ts'
import { enableRouters, ROUTER_ACTS } from './router-acts.ts'
import { connectedWrongly } from './routers-oracle.ts'
import { RUNNING_ROUTER_ACTS, RUNNING_ROUTER_FAULTS, VISITING_ACTS } from './running-router-acts.ts'
import { addressOf } from './simulated-process.ts'
import { SLOW_ANSWER_FAULTS } from './slow-answers.ts'
import { TIMED_ACTS } from './timed-acts.ts'
import { beginningOf, World } from './world.ts'

/** A step of a script: an act by its name, its choices, and the milliseconds that pass after it. */
export interface Step {
  readonly name: string
  readonly seed: number
  readonly passMs: number
}

/** How a run went. */
export interface Outcome {
  readonly seed: number
  /** The digest of the trace, hexadecimal. */
  readonly digest: string
  readonly trace: readonly string[]
  readonly faults: ReadonlyMap<string, number>
  readonly acts: ReadonlyMap<string, number>
  readonly acknowledged: number
  readonly circuits: number
  readonly bytes: number
  /** The step, from 0, and the words of the oracle. */
  readonly failure: { readonly step: number; readonly oracle: string } | undefined
}

/** Milliseconds of a long time, in which quiet circuits are asked of and terms end. */
const LONG_MS = 40_000
/** The share of steps that are followed by some seconds, in networks where role attributes end by themselves. */
const SHARE_OF_ENDS = 0.2
const ENDS_WITHIN_MS = 6000
/** Milliseconds after which a circuit that no process claims is forgotten. */
const SETTLED_MS = 33_000
/** Milliseconds of the pause after which the lists of an API are judged. */
const LISTED_AFTER_MS = 2500
/** Milliseconds until everything is at rest, with routers that confirm what they carry. */
const REST_MS = 90_000
const CONFIRM_EVERY_MS = 5000
/** Milliseconds of rest until disabled routers are enabled. */
const ENABLED_AFTER_MS = 20_000
/** Milliseconds within which processes close, and single timers end after that. */
const CLOSED_WITHIN_MS = 30_000

/** The acts of every network, and those of networks with a directory, grants, claims or routers that learn. */
const EVERY_ACT = { ...ACTS, ...TIMED_ACTS }
const DIRECTORY_ACTS: typeof EVERY_ACT = { 'directory changes': { weight: 8, act: directoryChanges } }
const POSSIBLE = {
  ...EVERY_ACT,
  ...DIRECTORY_ACTS,
  ...GRANT_ACTS,
  ...CLAIM_ACTS,
  ...ROUTER_ACTS,
  ...RUNNING_ROUTER_ACTS,
}
const SPECIAL_FAULTS = { ...SLOW_ANSWER_FAULTS, ...CUT_OFF_FAULTS, ...LATE_ANSWER_FAULTS, ...RUNNING_ROUTER_FAULTS }
/** Every fault of a run. */
export const POSSIBLE_FAULTS = { ...FAULTS, ...DIRECTORY_FAULTS, ...SIGNER_FAULTS, ...SPECIAL_FAULTS }

/** Further ones come last: those of every network are drawn as if there were no others. */
function actsOf({
  hasDirectory,
  hasGrants,
  hasClaims,
  routersLearn,
  hasOwnLinks,
  hasRunningRouter,
}: Manner): typeof EVERY_ACT {
  return {
    ...EVERY_ACT,
    ...(hasDirectory && DIRECTORY_ACTS),
    ...(hasGrants && GRANT_ACTS),
    ...(hasClaims && CLAIM_ACTS),
    ...(routersLearn && ROUTER_ACTS),
    ...(hasRunningRouter && VISITING_ACTS),
    ...(hasOwnLinks && hasRunningRouter && RUNNING_ROUTER_ACTS),
  }
}

function faultsOf({
  hasDirectory,
  hasClaims,
  hasSlowAnswers,
  isCutOff,
  hasLateAnswers,
  hasRunningRouter,
}: Manner): typeof FAULTS {
  return {
    ...FAULTS,
    ...(hasDirectory && DIRECTORY_FAULTS),
    ...(hasClaims && SIGNER_FAULTS),
    ...(hasSlowAnswers && SLOW_ANSWER_FAULTS),
    ...(isCutOff && CUT_OFF_FAULTS),
    ...(hasLateAnswers && LATE_ANSWER_FAULTS),
    ...(hasRunningRouter && RUNNING_ROUTER_FAULTS),
  }
}

/** The script of a seed. */
export function scriptOf(seed: number, steps: number): readonly Step[] {
  const choices = new Choices(seed)
  const manner = mannerOf(seed)
  const [acts, faults] = [actsOf(manner), faultsOf(manner)]
  return Array.from({ length: steps }, () => {
    const names = manner.hasFaults && choices.below(manner.faultEvery) === 0 ? faults : acts
    return { name: weighted(names, choices, manner), seed: choices.below(2 ** 31), passMs: pauseOf(choices, manner) }
  })
}

function pauseOf(choices: Choices, { longEvery, hasGrants, hasClaims }: Manner): number {
  // Grants and logins end some seconds after they begin.
  if ((hasGrants || hasClaims) && choices.happens(SHARE_OF_ENDS)) return choices.below(ENDS_WITHIN_MS)
  if (choices.below(longEvery) === 0) return choices.below(LONG_MS)
  return choices.happens(0.3) ? 0 : choices.below(choices.happens(0.1) ? 3000 : 100)
}

function weighted(from: typeof EVERY_ACT, choices: Choices, { frequency }: Manner): string {
  const entries = Object.entries(from).map(([name, { weight }]) => [name, weight * frequency(name)] as const)
  let left = choices.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [name, weight] of entries) {
    left -= weight
    if (left < 0) return name
  }
  return ''
}

const actOf = (name: string): Act | undefined => (POSSIBLE[name] ?? POSSIBLE_FAULTS[name])?.act

/** Plays a script over the network of a seed. */
export async function play(seed: number, script: readonly Step[]): Promise<Outcome> {
  const beginning = await beginningOf()
  const world = new World(seed, beginning)
  const { time } = world
  drawFrom(world.choices)
  const restore = simulateRuntime(time.runtime(world.choices))
  let failure: Outcome['failure']
  try {
    await begin(world)
    for (const [at, { name, seed: own, passMs }] of script.entries()) {
      world.note(`step ${at} ${name}`)
      actOf(name)?.(world, new Choices(own))
      await time.pass(passMs)
      const oracle = wrongNow(world) ?? (passMs < LISTED_AFTER_MS ? undefined : await time.until(wrongInLists(world)))
      if (oracle === undefined) continue
      failure = { step: at, oracle }
      break
    }
    if (failure === undefined) {
      const oracle = await rest(world)
      if (oracle !== undefined) failure = { step: script.length, oracle }
    }
    const left = await end(world)
    if (failure === undefined && left !== undefined) failure = { step: script.length, oracle: left }
  } finally {
    restore()
  }
  const { trace, faults, acts, asked, streams, dialers } = world
  const digest = createHash('sha256').update(trace.join('\n')).digest('hex')
  const bytes = streams.reduce((sum, { received }) => sum + received.length, 0)
  const { length: acknowledged } = asked.filter(({ outcome }) => outcome === 'acknowledged')
  return { seed, digest, trace, faults, acts, acknowledged, circuits: dialers.size, bytes, failure }
}

async function begin(world: World): Promise<void> {
  const { time, processes, routers } = world
  for (const process of processes) await time.until(process.start())
  const [first] = processes
  if (world.manner.hasClaims && first !== undefined) await time.until(world.signer.begin(first))
  if (world.manner.cutsBytes && first !== undefined)
    await time.until(lengthenModel((...request) => first.call(...request)))
  for (const [at, router] of routers.entries()) {
    const process = processes[homeOf(at, world)]
    if (process !== undefined) await time.until(router.connect(process))
  }
  if (world.running !== undefined) await time.until(world.running.start(processes.map(({ name }) => addressOf(name))))
  for (const { name } of processes) beginDevices(world, name)
  for (const from of routers) for (const to of routers) if (from.name < to.name) from.link(to)
  for (const router of world.hostingRouters) world.work(`${router.name} hosts`, router.host(world.serviceId))
  await time.pass(world.manner.isSettled ? SETTLED_MS : 3000)
}

/** The place of the process to which a router connects first. Two are at one process where their circuits are to be those of others. */
function homeOf(at: number, { manner, processes }: World): number {
  return manner.hasSlowAnswers || manner.isCutOff ? Math.min(at, 1) : at % processes.length
}

/** Ends every fault, brings everybody back, and lets time pass; answers what is wrong then. */
async function rest(world: World): Promise<string | undefined> {
  const { time, wires, processes, routers } = world
  for (const cancel of world.planned) cancel()
  world.isAtRest = true
  wires.refused.clear()
  wires.unheard.clear()
  for (const wire of wires.open) {
    wire.silent.clear()
    wire.slowMs = 0
  }
  world.receiver.mood = undefined
  Object.assign(world.directory, { isAway: false, isLate: false })
  world.signer.isAway = false
  for (const { faults } of processes)
    Object.assign(faults, {
      slowMs: 0,
      answersLateMs: 0,
      nextWrite: undefined,
      isAway: false,
      takesNoChanges: false,
      afterNextWrite: undefined,
    })
  world.note('rest')
  for (let passed = 0; passed < REST_MS; passed += CONFIRM_EVERY_MS) {
    await time.pass(CONFIRM_EVERY_MS)
    if (passed === ENABLED_AFTER_MS) {
      world.wrong ??= connectedWrongly(world)
      await time.until(enableRouters(world))
    }
    for (const router of routers) {
      const process = world.runningProcesses[router.name.charCodeAt(1) % 2] ?? world.runningProcesses[0]
      if (!router.isConnected && process !== undefined) world.work(`${router.name} comes back`, router.connect(process))
      else router.confirm()
    }
  }
  await time.until(settleAll(world))
  if (world.manner.hasClaims) await time.until(settleLogins(world))
  await giveAtRest(world, world.choices)
  await time.pass(3000)
  return time.until(
    wrongAtRest(world).catch((error: unknown) => `rest: ${error instanceof Error ? error.message : error}`),
  )
}

/** Closes everything; answers what is left then. */
async function end(world: World): Promise<string | undefined> {
  const { time, wires, processes, routers } = world
  for (const router of routers) router.disconnect()
  await time.until(world.running?.close() ?? Promise.resolve())
  for (const process of processes) {
    const closed = process.close().catch((error: unknown) => world.note(`close: ${error}`))
    const isClosed = closed.then(() => true)
    const givenUp = new Promise<boolean>((resolve) => time.after(CLOSED_WITHIN_MS, () => resolve(false)))
    if (!(await time.until(Promise.race([isClosed, givenUp])))) return `leftover: ${process.name} does not close`
  }
  await time.pass(CLOSED_WITHIN_MS)
  const open = [...wires.open].map(({ ends }) => ends.join('~'))
  if (open.length > 0) return `leftover: the connections ${open} are open after all was closed`
  // A process that was killed cleared nothing away.
  const isKilled = world.faults.has('process killed') || world.faults.has('process killed after a commit')
  if (isKilled || time.pending === 0) return undefined
  return `leftover: ${time.pending} timers are left after all was closed`
}

/** The shortest script found that still fails by the same oracle. */
export async function shrunk(
  seed: number,
  script: readonly Step[],
  failure: { readonly oracle: string },
  mostRuns = 60,
): Promise<readonly Step[]> {
  const kind = failure.oracle.split(':', 1)[0]
  let best = script
  let runs = 0
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.length && runs < mostRuns; ) {
      const shorter = [...best.slice(0, from), ...best.slice(from + size)]
      runs += 1
      const outcome = await play(seed, shorter)
      if (outcome.failure?.oracle.split(':', 1)[0] === kind) best = shorter
      else from += size
    }
  }
  return best
}
