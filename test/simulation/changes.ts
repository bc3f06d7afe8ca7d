import type { Choices } from './choices.ts'
import type { AskedChange } from './evidence.ts'
import { failAfterCommit } from './faults.ts'
import { Refused, type SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** A request of an administrator, or what somebody else asks of a process. */
export type Request =
  | readonly [method: string, path: string, body?: object]
  | ((process: SimulatedProcess) => Promise<unknown>)

export interface Outcome {
  /** The type of the audit record that a change leaves, and a text that no other record of the type has. */
  readonly asked?: readonly [type: string, mark: string]
  /** The id of the identity that asks; the administrator without it. */
  readonly by?: string
  /** The change may have happened from now on. */
  begins(): void
  done(answer: unknown): void
  /** It surely did not happen. */
  refused(status: number): void
  /** There is no answer that says. */
  lost?(): void
}

/** A change by the administrator: acknowledged, refused, or unknown where the answer is lost. */
export function change(world: World, choices: Choices, what: string, request: Request, outcome: Outcome): void {
  changeAtOnce(world, choices, what, [[request, outcome]])
}

/** Several changes at the same moment, each at a process of its own choice. */
export function changeAtOnce(
  world: World,
  choices: Choices,
  what: string,
  changes: readonly (readonly [Request, Outcome])[],
): void {
  if (world.runningProcesses.length === 0 || world.isChanging) return
  world.isChanging = true
  world.facts.changedAt = world.time.now
  const answers = changes.map(async ([request, outcome]) => {
    const process = choices.pick(world.runningProcesses)
    if (process === undefined) return
    failAfterCommit(world, choices, process)
    await ask(world, process, request, outcome)
  })
  // An administrator gives up after a while, and does not know then.
  const givenUp = new Promise<void>((resolve) => world.time.after(10_000, resolve))
  const over = Promise.race([Promise.all(answers), givenUp]).finally(() => {
    world.isChanging = false
    world.facts.changedAt = world.time.now
  })
  world.work(what, over)
}

async function ask(
  world: World,
  process: SimulatedProcess,
  request: Request,
  { asked: told, by, begins, done, refused, lost }: Outcome,
): Promise<void> {
  world.facts.changes += 1
  begins()
  const [type = '', mark = ''] = told ?? []
  const asked: AskedChange = { type, mark, outcome: 'lost' }
  if (told !== undefined) world.asked.push(asked)
  try {
    done(await answerOf(process, request, by))
    asked.outcome = 'acknowledged'
  } catch (error) {
    if (error instanceof Refused && error.status < 500) {
      asked.outcome = 'refused'
      refused(error.status)
    } else lost?.()
    throw error
  }
}

function answerOf(process: SimulatedProcess, request: Request, by: string | undefined): Promise<unknown> {
  if (typeof request === 'function') return request(process)
  const [method, path, body] = request
  return by === undefined ? process.call(method, path, body) : process.callAs(by, method, path, body)
}

/** Milliseconds after which an administrator asks again. */
const LOOKS_AGAIN_MS = 1000

/** An administrator who got no answer to a change looks what came of it, until somebody answers. */
export function look(world: World, path: string, settle: (answer: unknown) => void): void {
  const ask = async (): Promise<string> => {
    const [process] = world.runningProcesses
    const answer = await process?.call('GET', path).catch(() => undefined)
    if (answer === undefined) {
      look(world, path, settle)
      return 'no answer'
    }
    settle(answer)
    world.facts.changes += 1
    world.facts.changedAt = world.time.now
    return 'answered'
  }
  world.later(LOOKS_AGAIN_MS, () => world.work(`an administrator looks at ${path}`, ask()))
}
