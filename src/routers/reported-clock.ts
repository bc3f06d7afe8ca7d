/** Differences below this (ms) are those of the way of a message. */
const NOTICEABLE_MS = 5000

/**
 * The clock of a router, by the instants at which it says that it sent its reports. A report that waited makes the clock look behind, and
 * none makes it look ahead: of two reports the later clock counts.
 */
export class ReportedClock {
  #before: number | undefined
  #told: number | undefined

  /** Takes a report (both epoch ms). Answers by how many milliseconds the clock is ahead, where that is new. */
  take(sentAt: number, now: number): number | undefined {
    const before = this.#before
    this.#before = sentAt - now
    if (before === undefined) return undefined
    const ahead = Math.max(before, this.#before)
    if (this.#told !== undefined && Math.abs(ahead - this.#told) < NOTICEABLE_MS) return undefined
    this.#told = ahead
    return ahead
  }
}
