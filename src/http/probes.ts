import type { PlainAnswer, PlainFetch } from './exchange/plain-exchange.ts'
import { answerOf } from './pipeline/answer/json-answer.ts'

/** What probes are answered from. */
export interface ProbeSource {
  /** Reports whether the controller was closed. */
  isClosed(): boolean
  /** Asks the storage; rejects where it is away. */
  isReady(): Promise<boolean>
  /** All figures in the text form of Prometheus. */
  metrics(): Promise<string>
}

/**
 * Answers `GET /healthz` (the process answers), `/readyz` (the storage does, too) and `/metrics` (figures in the text form of
 * Prometheus) beside a controller, to everybody: who may reach them is for the network in front.
 */
export function withProbes(fetch: PlainFetch, source: ProbeSource): PlainFetch {
  async function readiness(): Promise<PlainAnswer> {
    if (source.isClosed()) return plain(503, 'closed\n')
    const isReady = await source.isReady().catch(() => false)
    return isReady ? plain(200, 'ok\n') : plain(503, 'the storage is not available\n')
  }

  return async (request, connection) => {
    if (request.method !== 'GET') return fetch(request, connection)
    switch (new URL(request.url).pathname) {
      case '/healthz':
        return source.isClosed() ? plain(503, 'closed\n') : plain(200, 'ok\n')
      case '/readyz':
        return readiness()
      case '/metrics':
        return plain(200, await source.metrics(), 'text/plain; version=0.0.4; charset=utf-8')
      default:
        return fetch(request, connection)
    }
  }
}

function plain(status: number, text: string, type = 'text/plain; charset=utf-8'): PlainAnswer {
  return answerOf(status, type, text, { 'cache-control': 'no-store' })
}
