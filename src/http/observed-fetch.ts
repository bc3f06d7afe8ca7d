import type { Instrument, Metrics, RequestSpan, Telemetry } from '../ports/telemetry.ts'
import type { ConnectionInfo, PlainAnswer, PlainFetch, PlainRequest } from './exchange.ts'
import type { RequestWatch, WatchedFetch } from './pipeline/handler.ts'

/** The sinks of requests: each gets their figures, the telemetry of the host their spans. */
export interface RequestSinks {
  readonly metrics: Metrics
  readonly telemetry: Pick<Telemetry, 'trace'> | undefined
  /** Milliseconds since any fixed moment; it never goes back. */
  elapsedMs(): number
}

const DURATION: Instrument = {
  name: 'http.server.request.duration',
  kind: 'histogram',
  unit: 's',
  description: 'How long answering took, by method, route and status.',
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
}
const ACTIVE: Instrument = {
  name: 'http.server.active_requests',
  kind: 'up-down-counter',
  unit: '{request}',
  description: 'Requests that are being answered.',
}
const REQUESTS: Instrument = {
  name: 'portcullis.requests',
  kind: 'counter',
  unit: '{request}',
  description: 'Requests that were answered.',
}

/** Methods that are named in figures. All others share one name, so that no caller can add names. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Measures every request, and runs it in its span where spans are recorded. */
export function observedFetch(fetch: WatchedFetch, { metrics, telemetry, elapsedMs }: RequestSinks): PlainFetch {
  async function measured(
    request: PlainRequest,
    connection?: ConnectionInfo,
    span?: RequestSpan,
  ): Promise<PlainAnswer> {
    const { method, scheme } = toldOf(request)
    const about = { 'http.request.method': method, 'url.scheme': scheme }
    const watch = new Watch(span)
    const begunMs = elapsedMs()
    metrics.record(ACTIVE, 1, about)
    const response = await fetch(request, connection, watch).finally(() => metrics.record(ACTIVE, -1, about))
    const { status } = response
    const error = status >= 500 ? watch.error : undefined
    const route = watch.route === undefined ? {} : { 'http.route': watch.route }
    const answered = { 'http.response.status_code': status, ...(status >= 500 && { 'error.type': String(status) }) }
    metrics.record(DURATION, (elapsedMs() - begunMs) / 1000, { ...about, ...route, ...answered })
    metrics.record(REQUESTS, 1, { method: method === '_OTHER' ? 'other' : method, status })
    span?.answered(status, error)
    return response
  }

  if (telemetry === undefined) return (request, connection) => measured(request, connection)
  return (request, connection) => {
    const header = (name: string) => request.headers.get(name) ?? undefined
    const traced = { ...toldOf(request), remoteAddress: connection?.remoteAddress, header }
    return telemetry.trace(traced, (span) => measured(request, connection, span))
  }
}

function toldOf({ method, url }: PlainRequest): { readonly method: string; readonly scheme: string } {
  return { method: METHODS.has(method) ? method : '_OTHER', scheme: url.startsWith('https:') ? 'https' : 'http' }
}

class Watch implements RequestWatch {
  readonly #span: RequestSpan | undefined
  route: string | undefined
  error: unknown

  constructor(span: RequestSpan | undefined) {
    this.#span = span
  }

  matched(requestId: string, route: string): void {
    this.route = route
    this.#span?.matched(requestId, route)
  }

  failed(error: unknown): void {
    this.error = error
  }
}
