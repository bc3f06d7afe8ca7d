/** Wakes the controller at instants of its clock. It holds no process alive. */
export interface Scheduler {
  /**
   * Runs `work` once, at `instant` (epoch ms) or as soon after it as possible, never earlier by the clock, however far
   * away it is and however the clock jumps. Answers the function that cancels it. `work` does not reject.
   */
  at(instant: number, work: () => Promise<void>): () => void
}
