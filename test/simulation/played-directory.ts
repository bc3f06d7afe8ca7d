import type { HostDirectory } from 'portcullis'
import type { Act } from './acts.ts'
import type { Choices } from './choices.ts'
import type { SimulatedTime } from './simulated-time.ts'
import { ROLES, type World } from './world.ts'

/** The most milliseconds of an answer that is soon, and of one that is late: the product waits for 3,000. */
const SOON_MS = 50
const LATE_MS = 3500

type Report = Parameters<Parameters<NonNullable<HostDirectory['changed']>>[0]>[0]

/** A directory of the host: one for all processes, which each of them asks. */
export class PlayedDirectory {
  /** The role attributes of each identity that the directory knows. */
  readonly entries = new Map<string, readonly string[]>()
  /** The starts of processes to which the last change of an identity was reported. */
  readonly reportedTo = new Map<string, readonly unknown[]>()
  isAway = false
  isLate = false
  readonly #time: SimulatedTime
  readonly #choices: Choices
  readonly #listeners = new Map<string, (change: Report) => Promise<void>>()

  constructor(time: SimulatedTime, choices: Choices) {
    this.#time = time
    this.#choices = choices
  }

  /** The directory as a process asks it. */
  at(process: string, state: { readonly isAlive: boolean }): HostDirectory {
    const passed = () =>
      new Promise<void>((resolve) => this.#time.after(this.#choices.below(this.isLate ? LATE_MS : SOON_MS), resolve))
    return {
      attributesOf: async ({ id }) => {
        await passed()
        if (this.isAway) throw new Error('the directory is away')
        const entry = this.entries.get(id)
        await passed()
        return state.isAlive ? entry : new Promise<never>(() => undefined)
      },
      changed: (listener) => {
        this.#listeners.set(process, listener)
        return () => void this.#listeners.delete(process)
      },
    }
  }

  /** Reports a change to a process; resolves when it answers. */
  async report(process: string, change: Report): Promise<void> {
    await this.#listeners.get(process)?.(change)
  }
}

/** The group of a person changes in the directory, and the host reports it to one process or to all. */
export const directoryChanges: Act = (world, choices) => {
  const { directory, facts, time, devices } = world
  const id = devices.get(choices.pick(['laptop', 'box']) ?? '') ?? ''
  const entry = ROLES.filter(() => choices.happens(0.5))
  const processes = choices.happens(0.5) ? world.runningProcesses : world.runningProcesses.slice(0, 1)
  const change = choices.happens(0.2) ? 'all' : { id }
  directory.entries.set(id, entry)
  directory.reportedTo.set(
    id,
    processes.map(({ running }) => running),
  )
  facts.changes += 1
  facts.changedAt = time.now
  facts.given.set(id, [...(facts.given.get(id) ?? [[]]), entry])
  const reported = Promise.all(processes.map(({ name }) => directory.report(name, change)))
  world.work(
    `the directory gives ${entry} to ${id}`,
    Promise.race([reported, new Promise<void>((resolve) => time.after(10_000, resolve))]).then(() => settle(world, id)),
  )
}

/** Knows the entry of an identity for certain, once the network has it and nobody changed it since. */
async function settle(world: World, id: string): Promise<void> {
  const { directory, facts, time } = world
  const { changes } = facts
  const [process] = world.runningProcesses
  const entry = directory.entries.get(id) ?? []
  const identity = Object(await process?.call('GET', `/identities/${id}`))
  const isWritten = [...(identity.directoryAttributes ?? [])].sort().join() === [...entry].sort().join()
  if (!isWritten || facts.changes !== changes) return
  facts.changes += 1
  facts.changedAt = time.now
  facts.given.set(id, [entry])
}

/**
 * Knows the entry of every identity for certain, at rest. A process that goes on running forgets no report; a report to processes that were
 * killed since is made again, as hosts do.
 */
export async function settleAll(world: World): Promise<void> {
  const { directory, facts, processes } = world
  const starts = new Set<unknown>(processes.map(({ running }) => running))
  for (const id of facts.given.keys()) {
    if (!directory.reportedTo.get(id)?.some((start) => starts.has(start)))
      await directory.report(world.runningProcesses[0]?.name ?? '', { id })
    facts.given.set(id, [directory.entries.get(id) ?? []])
  }
}
