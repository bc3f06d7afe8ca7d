/** A measured figure. Names, units and attributes follow OpenTelemetry. */
export interface Instrument {
  /** Parts divided by dots, for example `portcullis.logins`. */
  readonly name: string
  readonly kind: 'counter' | 'up-down-counter' | 'gauge' | 'histogram'
  /** `s` for seconds; the counted object in braces, for example `{login}`. */
  readonly unit: string
  readonly description: string
  /** For a gauge: the way to combine the values of several processes over one store. Default: the greatest value. */
  readonly across?: 'sum' | 'max' | 'min'
  /** For a histogram: the upper bounds of its buckets, ascending. */
  readonly boundaries?: readonly number[]
}

/** The attributes of a figure. Every value comes from a small fixed set, never from a caller. */
export type MetricAttributes = Readonly<Record<string, string | number>>

/** A reading of a gauge. */
export interface Reading {
  readonly instrument: Instrument
  readonly value: number
  readonly attributes?: MetricAttributes
}

/** Receives measurements. Neither function throws. */
export interface Metrics {
  /** Adds to a counter, or puts a value into a histogram. */
  record(instrument: Instrument, value: number, attributes?: MetricAttributes): void
  /** Calls `read` for these gauges at every export of figures. Answers the function that ends this. */
  observe(gauges: readonly Instrument[], read: () => Promise<readonly Reading[]>): () => void
}

/** The parts of a request that telemetry may see: neither path nor query, which hold ids and secrets. */
export interface TracedRequest {
  /** The HTTP method; `_OTHER` for an unknown method. */
  readonly method: string
  readonly scheme: string
  /** The peer's IP address, if known. */
  readonly remoteAddress: string | undefined
  /** A header with the trace of the request, such as `traceparent`. */
  header(name: string): string | undefined
}

/** The span of a request that is being answered. */
export interface RequestSpan {
  /** Reports the operation of the request: the request's id in the log, and the template of its path. */
  matched(requestId: string, route: string): void
  /** Reports the status of the answer, and an unexpected error if the request failed by it. */
  answered(status: number, error?: unknown): void
}

/**
 * Receives spans of requests, and figures, such as `openTelemetry()` of `portcullis/opentelemetry`. They never hold a secret, an id or a
 * name of an entity.
 */
export interface Telemetry extends Metrics {
  /** Runs `answer` within the span of a request and answers its answer. All its calls belong to the span. */
  trace<T>(request: TracedRequest, answer: (span: RequestSpan) => Promise<T>): Promise<T>
}
