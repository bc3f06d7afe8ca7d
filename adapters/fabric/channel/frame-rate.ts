/** How many frames a peer may send: so many a second, and so many at once after a rest. */
export interface FrameRate {
  readonly perSecond: number
  readonly burst: number
}

/** Counts frames against a rate. Instants are milliseconds of any clock that only goes forward. */
export class FrameAllowance {
  readonly #rate: FrameRate
  #left: number
  #at: number

  constructor(rate: FrameRate, now: number) {
    this.#rate = rate
    this.#left = rate.burst
    this.#at = now
  }

  /** Takes frames; answers for how many milliseconds the peer has to wait before the next, 0 for not at all. */
  take(frames: number, now: number): number {
    const earned = ((now - this.#at) / 1000) * this.#rate.perSecond
    this.#left = Math.min(this.#rate.burst, this.#left + earned) - frames
    this.#at = now
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left / this.#rate.perSecond) * 1000)
  }
}
