import type { ReadTransaction } from '../ports/storage.ts'
import type { ControllerFetch } from './pipeline/connection.ts'

/** What probes are answered from. */
export interface ProbeSource {
  /** Reports whether the controller was closed. */
  isClosed(): boolean
  /** Reads the storage; rejects where it is away. */
  readonly read: <T>(work: (tx: ReadTransaction) => Promise<T>) => Promise<T>
  /** Epoch milliseconds. */
  now(): number
}

/** Methods that are counted by name; the others count as `other`, so that no caller makes up further counters. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Answers `GET /healthz` (the process answers), `/readyz` (the storage does, too) and `/metrics` (counters in the text form
 * of Prometheus) beside a controller, to everybody: who may reach them is for the network in front.
 */
export function withProbes(fetch: ControllerFetch, source: ProbeSource): ControllerFetch {
  const startedAt = source.now()
  const answered = new Map<string, number>()
  let underWay = 0
  let millisecondsInAll = 0

  async function counted(...[request, connection]: Parameters<ControllerFetch>): Promise<Response> {
    const begun = source.now()
    underWay += 1
    const response = await fetch(request, connection).finally(() => {
      underWay -= 1
    })
    millisecondsInAll += source.now() - begun
    const method = METHODS.has(request.method) ? request.method : 'other'
    const labels = `method="${method}",status="${response.status}"`
    answered.set(labels, (answered.get(labels) ?? 0) + 1)
    return response
  }

  async function readiness(): Promise<Response> {
    if (source.isClosed()) return plain(503, 'closed\n')
    const isReady = await source.read(async () => true).catch(() => false)
    return isReady ? plain(200, 'ok\n') : plain(503, 'the storage is not available\n')
  }

  function metrics(): Response {
    const requests = [...answered].map(([labels, count]) => `portcullis_requests_total{${labels}} ${count}`)
    const lines = [
      '# HELP portcullis_requests_total Requests that were answered.',
      '# TYPE portcullis_requests_total counter',
      ...requests,
      '# HELP portcullis_requests_under_way Requests that are being answered.',
      '# TYPE portcullis_requests_under_way gauge',
      `portcullis_requests_under_way ${underWay}`,
      '# HELP portcullis_request_seconds_total Seconds that answering took, of all requests.',
      '# TYPE portcullis_request_seconds_total counter',
      `portcullis_request_seconds_total ${millisecondsInAll / 1000}`,
      '# HELP portcullis_uptime_seconds Seconds since the controller was made.',
      '# TYPE portcullis_uptime_seconds gauge',
      `portcullis_uptime_seconds ${(source.now() - startedAt) / 1000}`,
    ]
    return plain(200, `${lines.join('\n')}\n`, 'text/plain; version=0.0.4; charset=utf-8')
  }

  return async (request, connection) => {
    if (request.method !== 'GET') return counted(request, connection)
    switch (new URL(request.url).pathname) {
      case '/healthz':
        return source.isClosed() ? plain(503, 'closed\n') : plain(200, 'ok\n')
      case '/readyz':
        return readiness()
      case '/metrics':
        return metrics()
      default:
        return counted(request, connection)
    }
  }
}

function plain(status: number, text: string, type = 'text/plain; charset=utf-8'): Response {
  return new Response(text, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } })
}
