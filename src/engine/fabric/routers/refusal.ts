import type { RefusalCode, RetryHint } from '../../../ports/fabric/index.ts'

/** What the router is to do when a request is refused for a reason. */
const HINTS: Readonly<Record<RefusalCode, RetryHint>> = {
  internal: 'default',
  'invalid-api-session': 'start-over',
  'invalid-session': 'start-over',
  'wrong-session-type': 'start-over',
  'invalid-edge-router': 'start-over',
  'invalid-service': 'not-retriable',
  'tunneling-not-enabled': 'not-retriable',
  'invalid-terminator': 'not-retriable',
  'invalid-precedence': 'not-retriable',
  'invalid-cost': 'not-retriable',
  'encryption-data-missing': 'start-over',
  'invalid-instance-id': 'not-retriable',
  'access-denied': 'default',
}

/** A request of a router is refused. */
export class RouterRefusal extends Error {
  readonly code: RefusalCode
  readonly hint: RetryHint
  /** The circuit that was not laid, for the logs of clients. */
  readonly circuitId: string | undefined

  constructor(code: RefusalCode, message: string, { hint, circuitId }: { hint?: RetryHint; circuitId?: string } = {}) {
    super(message)
    this.name = 'RouterRefusal'
    this.code = code
    this.hint = hint ?? HINTS[code]
    this.circuitId = circuitId
  }
}
