import { ownExplanationText, SYSTEM_CALL } from '../../../src/browser-pages.ts'
import type { HostEngine } from '../../../src/index.ts'
import { ConnectionFailure, type FailureCode } from '../../network/sdk/index.ts'
import { answerOfFailure } from './app-request.ts'
import type { GatewayLogin } from './gateway-logins.ts'
import type { GatewayAnswer } from './gateway-pages.ts'

/** The part of a controller that explains its decisions. */
export type ExplainingAccess = Pick<HostEngine['access'], 'explain'>

/** Failures that the rules of access explain. */
const EXPLAINED: ReadonlySet<FailureCode> = new Set([
  ...(['SERVICE_NOT_FOUND', 'ACCESS_DENIED', 'POSTURE_FAILED', 'NO_ROUTER', 'NO_HOST'] as const),
])

/** Failures after which a browser has to log in again. */
const LOGIN_ENDED: ReadonlySet<FailureCode> = new Set(['NOT_AUTHENTICATED', 'SECOND_FACTOR_NEEDED', 'CLOSED'])

const STATUSES: Partial<Readonly<Record<FailureCode, number>>> = {
  SERVICE_NOT_FOUND: 403,
  ACCESS_DENIED: 403,
  POSTURE_FAILED: 403,
  NO_ROUTER: 503,
  NO_HOST: 503,
  CONTROLLER_UNREACHABLE: 503,
  TIMED_OUT: 504,
}

/** Reports whether an app could not be reached because the API session is over. */
export function isLoginEnd(error: unknown): boolean {
  return error instanceof ConnectionFailure && LOGIN_ENDED.has(error.code)
}

/**
 * The answer to a request whose app could not be reached: why, in the words of an explanation for the caller itself, and nothing of the
 * network.
 */
export async function refusalAnswer(
  access: ExplainingAccess,
  { who, apiSessionId }: Pick<GatewayLogin, 'who' | 'apiSessionId'>,
  service: string,
  error: unknown,
): Promise<GatewayAnswer> {
  const answer = answerOfFailure(error)
  if (answer !== undefined) return answer
  const code = error instanceof ConnectionFailure ? error.code : 'CONNECTION_LOST'
  const status = STATUSES[code] ?? 502
  const title = status === 403 ? 'You may not open this app' : 'The app cannot be reached'
  const plainly = { status, title, code: status === 403 ? 'ACCESS_DENIED' : 'APP_UNREACHABLE', text: UNREACHABLE }
  if (!EXPLAINED.has(code)) return plainly
  try {
    const options = apiSessionId === '' ? {} : { apiSessionId }
    const explanation = await access.explain(SYSTEM_CALL, who.id, service, 'Dial', options)
    // The state may have changed since the dial, so that nothing is left to explain.
    return explanation.allowed && status === 403 ? plainly : { ...plainly, text: ownExplanationText(explanation) }
  } catch {
    return plainly
  }
}

const UNREACHABLE = 'Try again in a moment.'
