import type { Storage } from 'portcullis'
import { StorageUnavailable } from 'portcullis/storage'
import type { Choices } from './choices.ts'
import type { SimulatedTime } from './simulated-time.ts'

/** How the store treats one process at present. */
export interface StorageFaults {
  /** The most milliseconds of an answer. */
  slowMs: number
  /** The most milliseconds after which a read is answered with what was so when it was read. */
  answersLateMs: number
  /** How the next write fails. */
  nextWrite: 'before' | 'after' | undefined
  isAway: boolean
  /** It answers reads, and refuses writes. */
  takesNoChanges: boolean
  /** Called as soon as the next write is committed, before anything follows from it. */
  afterNextWrite?: (() => void) | undefined
}

/** The store as a process reaches it: late, failing, away; a process that was killed reaches it no more. */
export function storageOf(
  shared: Storage,
  {
    time,
    choices,
    faults,
    isAlive,
  }: {
    readonly time: SimulatedTime
    readonly choices: Choices
    readonly faults: StorageFaults
    readonly isAlive: () => boolean
  },
): Storage {
  const dead = () => new Promise<never>(() => undefined)
  const wait = () =>
    faults.slowMs === 0 ? undefined : new Promise<void>((resolve) => time.after(choices.below(faults.slowMs), resolve))
  const late = () =>
    faults.answersLateMs === 0
      ? undefined
      : new Promise<void>((resolve) => time.after(choices.below(faults.answersLateMs), resolve))
  const unreachable = (when: string) => new StorageUnavailable('unreachable', `the simulation asked for it ${when}`)
  return {
    async read(work, options) {
      if (!isAlive()) return dead()
      await wait()
      if (faults.isAway) throw unreachable('of a read')
      const answer = await shared.read(work, options)
      await late()
      return isAlive() ? answer : dead()
    },
    async write(work) {
      if (!isAlive()) return dead()
      await wait()
      const { nextWrite } = faults
      if (faults.isAway || faults.takesNoChanges) throw unreachable('of a write')
      faults.nextWrite = undefined
      if (nextWrite === 'before') throw unreachable('before the commit')
      const written = shared.write(async (tx) => {
        const done = await work(tx)
        // A process that was killed in the middle commits nothing, and its transaction ends with its connection.
        if (!isAlive()) throw unreachable('by a process that is gone')
        return done
      })
      const answer = await written.catch((error: unknown) => (isAlive() ? Promise.reject(error) : dead()))
      const { afterNextWrite } = faults
      faults.afterNextWrite = undefined
      afterNextWrite?.()
      if (nextWrite === 'after') throw unreachable('after the commit')
      await wait()
      return isAlive() ? answer : dead()
    },
    close: async () => undefined,
  }
}
