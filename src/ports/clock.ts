/** The controller's only source of time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}
