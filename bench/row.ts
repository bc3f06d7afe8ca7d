/** One measured figure. A ceiling is measured in the same run, in the same unit: the ratio travels between machines, the value does not. */
export interface BenchRow {
  name: string
  value: number
  unit: string
  ceiling?: { name: string; value: number }
  /** The target of performance.md, in words. */
  target?: string
  /** For how long (ms) the event loop was held at once while it ran. */
  longestHoldMs?: number
  /** Further figures of the same run, in words. */
  details?: string
}
