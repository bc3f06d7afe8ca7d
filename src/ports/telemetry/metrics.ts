/** A figure that is measured. Names, units and attributes are those of OpenTelemetry. */
export interface Instrument {
  /** Parts divided by dots, for example `portcullis.logins`. */
  readonly name: string
  readonly kind: 'counter' | 'up-down-counter' | 'gauge' | 'histogram'
  /** `s` for seconds; what is counted stands in braces, for example `{login}`. */
  readonly unit: string
  readonly description: string
  /** Of a histogram: where its buckets end, ascending. */
  readonly boundaries?: readonly number[]
}

/** What a figure is told by. Every value is one of few: no caller makes them up. */
export type MetricAttributes = Readonly<Record<string, string | number>>

/** What a gauge shows. */
export interface Reading {
  readonly instrument: Instrument
  readonly value: number
  readonly attributes?: MetricAttributes
}

/** Takes what is measured. Neither function throws. */
export interface Metrics {
  /** Adds to a counter, or puts a value into a histogram. */
  record(instrument: Instrument, value: number, attributes?: MetricAttributes): void
  /** Asks `read` for these gauges whenever figures are given on. Answers the function that ends it. */
  observe(gauges: readonly Instrument[], read: () => Promise<readonly Reading[]>): () => void
}
