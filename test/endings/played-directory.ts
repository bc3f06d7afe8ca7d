import type { DirectoryChange, DirectoryEntry, HostDirectory } from 'portcullis'
import type { ProcessName } from './two-processes.ts'

/** Milliseconds for which an answer of the directory counts: logins under way and tokens of signers outlast it. */
export const KEPT_MS = 240_000

type Tell = (change: DirectoryChange) => Promise<void>

/** A directory of the host that both processes ask. It knows nobody to begin with. */
export class PlayedDirectory {
  /** The entries by the ids of identities. */
  readonly entries = new Map<string, DirectoryEntry>()
  isAway = false
  readonly #listeners = new Map<ProcessName, Tell>()

  /** The directory as the option of one process. */
  at(name: ProcessName): HostDirectory {
    return {
      keepForMs: KEPT_MS,
      attributesOf: async ({ id }) => {
        if (this.isAway) throw new Error('the directory is away')
        return this.entries.get(id)
      },
      changed: (listener) => {
        this.#listeners.set(name, listener)
        return () => this.#listeners.delete(name)
      },
    }
  }

  /** Reports a change to one process. */
  async report(name: ProcessName, id: string): Promise<void> {
    const tell = this.#listeners.get(name)
    if (tell === undefined) throw new Error(`the process ${name} follows no directory`)
    await tell({ id })
  }

  /** The ids of the identities that the next answer disables. */
  get disabled(): ReadonlySet<string> {
    const known = this.isAway ? [] : [...this.entries]
    return new Set(known.flatMap(([id, { disabled }]) => (disabled ? [id] : [])))
  }
}
