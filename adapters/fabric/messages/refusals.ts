import type { RefusalCode, RetryHint } from '../../../src/index.ts'

export const REFUSAL_NUMBERS: Readonly<Record<RefusalCode, number>> = {
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
  'invalid-instance-id': 13,
  'access-denied': 14,
}

export const HINT_NUMBERS: Readonly<Record<RetryHint, number>> = {
  default: 0,
  'too-busy': 1,
  'start-over': 2,
  'not-retriable': 3,
}
