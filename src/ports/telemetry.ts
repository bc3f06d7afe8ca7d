import type { Metrics } from './metrics.ts'

/** A request, as it may be told to others: neither its path nor its query, which hold ids and secrets. */
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
 * Where spans of requests and figures go, such as `openTelemetry()` of `portcullis/opentelemetry`. Nothing that it is told
 * holds a secret, an id or a name of an entity.
 */
export interface Telemetry extends Metrics {
  /** Runs `answer` as the span of a request and answers what it answers; whatever it calls belongs to the span. */
  trace<T>(request: TracedRequest, answer: (span: RequestSpan) => Promise<T>): Promise<T>
}
