/** A figure that is measured. Names, units and attributes are those of OpenTelemetry. */
export interface Instrument {
  /** Parts divided by dots, for example `portcullis.logins`. */
  readonly name: string
  readonly kind: 'counter' | 'up-down-counter' | 'gauge' | 'histogram'
  /** `s` for seconds; what is counted stands in braces, for example `{login}`. */
  readonly unit: string
  readonly description: string
  /** Of a gauge: what several processes over one store tell together. Default: the greatest value. */
  readonly across?: 'sum' | 'max' | 'min'
  /** Of a histogram: where its buckets end, ascending. */
  readonly boundaries?: readonly number[]
}

/** The attributes of a figure. Every value is one of few: no caller makes them up. */
export type MetricAttributes = Readonly<Record<string, string | number>>

/** A reading of a gauge. */
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

/** A request, as others may see it: neither its path nor its query, which hold ids and secrets. */
export interface TracedRequest {
  /** The HTTP method; `_OTHER` for one that is none. */
  readonly method: string
  readonly scheme: string
  /** The peer's IP address, where it is known. */
  readonly remoteAddress: string | undefined
  /** A header that says which trace the request belongs to, such as `traceparent`. */
  header(name: string): string | undefined
}

/** A request that is being answered. */
export interface RequestSpan {
  /** An operation was found for it, by the name under which it stands in the log and the template of its path. */
  matched(requestId: string, route: string): void
  /** The status that it is answered with, and what it failed by where that was not foreseen. */
  answered(status: number, error?: unknown): void
}

/**
 * Where spans of requests and figures go, such as `openTelemetry()` of `portcullis/opentelemetry`. Nothing that it gets
 * holds a secret, an id or a name of an entity.
 */
export interface Telemetry extends Metrics {
  /** Runs `answer` as the span of a request and answers what it answers; whatever it calls belongs to the span. */
  trace<T>(request: TracedRequest, answer: (span: RequestSpan) => Promise<T>): Promise<T>
}
