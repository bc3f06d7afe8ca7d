import { BoundedMap } from '../../../../src/base/collections.ts'

/** Milliseconds for which the log hears no more of a trouble of a peer once it was told. */
const QUIET_MS = 60_000
/** Troubles that are remembered: those told longest ago are forgotten first, and may be told again. */
const MOST_REMEMBERED = 16_384

/** Troubles of peers for the log: of each kind and peer one in a minute, so that no peer fills the log. */
export class ToldSeldom {
  /** When each was told last, ms. */
  readonly #toldAt = new BoundedMap<string, number>(MOST_REMEMBERED)

  /** Answers whether a trouble is to be told at `now` (ms), and counts it as told if so. */
  isDue(peerId: string, what: string, now: number): boolean {
    const key = `${what} ${peerId}`
    if (now - (this.#toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false
    this.#toldAt.set(key, now)
    return true
  }
}
