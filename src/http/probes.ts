import { TooManyAttempts } from '../base/errors.ts'
import type { PlainAnswer, PlainFetch } from './exchange.ts'
import { answerOf } from './pipeline/envelope.ts'

/** The paths of probes. */
export const PROBE_PATHS = { alive: '/healthz', ready: '/readyz', figures: '/metrics' } as const

/** The sources that probes are answered from. */
export interface ProbeSource {
  /** Reports whether the controller was closed. */
  isClosed(): boolean
  /** Answers why the controller is not ready, in one line, and undefined when it is; rejects where the storage is away. */
  problem(): Promise<string | undefined>
  /** By how many milliseconds the clock was lately found behind that of another process over the storage; 0 for not at all. */
  clockBehindMs(): number
  /** Counts a request of an address. Error: `SERVER_TOO_MANY_REQUESTS`. */
  count(address: string | undefined): Promise<void>
  /** All figures in the text form of Prometheus. */
  metrics(): Promise<string>
}

/**
 * Answers `GET /healthz` (the process answers), `/readyz` (the storage does, too, takes changes, and the access index is built) and
 * `/metrics` (figures in the text form of Prometheus) beside a controller, to any client: the network in front decides who may reach
 * them. Figures count towards the rate of requests of their address. The storage is asked once for all concurrent questions.
 */
export function withProbes(fetch: PlainFetch, source: ProbeSource): PlainFetch {
  let asking: Promise<string | undefined> | undefined
  async function readiness(): Promise<PlainAnswer> {
    if (source.isClosed()) return plain(503, 'closed\n')
    asking ??= source.problem().finally(() => {
      asking = undefined
    })
    const problem = await asking.catch(() => 'the storage is not available')
    return problem === undefined
      ? plain(200, `ok\n${clockWarning(source.clockBehindMs())}`)
      : plain(503, `${problem}\n`)
  }

  async function figures(address: string | undefined): Promise<PlainAnswer> {
    try {
      await source.count(address)
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error
      const retryAfter = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)))
      return plain(429, 'too many requests\n', PLAIN, { 'retry-after': retryAfter })
    }
    return plain(200, await source.metrics(), 'text/plain; version=0.0.4; charset=utf-8')
  }

  return async (request, connection) => {
    if (request.method !== 'GET') return fetch(request, connection)
    switch (new URL(request.url).pathname) {
      case PROBE_PATHS.alive:
        return source.isClosed() ? plain(503, 'closed\n') : plain(200, 'ok\n')
      case PROBE_PATHS.ready:
        return readiness()
      case PROBE_PATHS.figures:
        return figures(connection?.remoteAddress)
      default:
        return fetch(request, connection)
    }
  }
}

/** The process stays in use: the clock of the other process may be the wrong one. */
function clockWarning(behindMs: number): string {
  if (behindMs === 0) return ''
  return `warning: the clock is ${Math.round(behindMs / 1000)} s behind that of another process over the same storage\n`
}

const PLAIN = 'text/plain; charset=utf-8'

function plain(
  status: number,
  text: string,
  type = PLAIN,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  return answerOf(status, type, text, { 'cache-control': 'no-store', ...headers })
}
