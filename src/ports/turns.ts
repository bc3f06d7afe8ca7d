/** Shares the thread between long work and everything else. */
export interface Turns {
  /**
   * Begins a slice of a few milliseconds. The function that is answered is called between small pieces of work: it answers
   * `undefined` while the slice lasts, else a promise of a later turn of the event loop, with which a new slice begins.
   */
  begin(): () => Promise<void> | undefined
}
