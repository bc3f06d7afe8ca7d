/** The advice to an endpoint after a refusal: its own choice, a later retry, a new login, or no retry. */
export type RefusalHint = 'default' | 'too-busy' | 'start-over' | 'not-retriable'

/** The reason for which a router refuses or ends a connection. */
export interface EdgeRefusal {
  /** For the logs of the endpoint. */
  readonly text: string
  /** A number of {@link EDGE_ERROR}; undefined without a fitting number. */
  readonly code?: number
  readonly hint?: RefusalHint
  /** The ids of the failing posture checks, if posture is the reason. */
  readonly failingChecks?: readonly string[]
}

/** Causes, in the words of controllers and routers, by the numbers that endpoints know. */
export const EDGE_ERROR = {
  internal: 1,
  'invalid-api-session': 2,
  'invalid-session': 3,
  'wrong-session-type': 4,
  'invalid-edge-router': 5,
  'invalid-service': 6,
  'tunneling-not-enabled': 7,
  'invalid-terminator': 8,
  'invalid-precedence': 9,
  'invalid-cost': 10,
  'encryption-data-missing': 11,
  'invalid-api-session-type': 12,
  'invalid-instance-id': 13,
  'access-denied': 14,
  'posture-check-failed': 15,
} as const

/** The numbers of the hints, for endpoints and for routers. */
export const HINT_NUMBERS: Readonly<Record<RefusalHint, number>> = {
  default: 0,
  'too-busy': 1,
  'start-over': 2,
  'not-retriable': 3,
}

/** The only words by which some endpoints recognise that they need a new session. */
const SESSION_INVALID = 'Invalid Session'

/** The text of a refusal for an endpoint. */
export function refusalText({ code, text }: EdgeRefusal): string {
  return code === EDGE_ERROR['invalid-session'] || code === EDGE_ERROR['invalid-api-session'] ? SESSION_INVALID : text
}

/** The refusal as JSON, for endpoints that read more than text. */
export function refusalJson({ code, hint = 'default', text, failingChecks }: EdgeRefusal): string {
  return JSON.stringify({
    message: text,
    code: code ?? EDGE_ERROR.internal,
    retryHint: HINT_NUMBERS[hint],
    ...(failingChecks && { failingPostureCheckIds: failingChecks }),
  })
}

/** The cause of a host's failure, by the text of its refusal. */
export function hostFailure(text: string): 'rejected-by-application' | 'port-not-allowed' | 'dns-failure' | 'generic' {
  if (text.includes('rejected by application')) return 'rejected-by-application'
  if (text.includes('not in allowed port ranges')) return 'port-not-allowed'
  return text.includes('no such host') || text.includes('server misbehaving') ? 'dns-failure' : 'generic'
}
