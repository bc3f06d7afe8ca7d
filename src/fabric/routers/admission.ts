import type { Misbehaviour, RefusalCode, RetryHint } from '../../../ports/fabric/index.ts'

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

interface RefusalDetails {
  /** Unless the code has another one. */
  readonly hint?: RetryHint
  readonly circuitId?: string
  readonly misbehaviour?: Misbehaviour
}

/** A request of a router is refused. */
export class RouterRefusal extends Error {
  readonly code: RefusalCode
  readonly hint: RetryHint
  /** The circuit that was not laid, for the logs of clients. */
  readonly circuitId: string | undefined
  /** What the router did, where no router in good faith does it. */
  readonly misbehaviour: Misbehaviour | undefined

  constructor(code: RefusalCode, message: string, { hint, circuitId, misbehaviour }: RefusalDetails = {}) {
    super(message)
    this.name = 'RouterRefusal'
    this.code = code
    this.hint = hint ?? HINTS[code]
    this.circuitId = circuitId
    this.misbehaviour = misbehaviour
  }
}
