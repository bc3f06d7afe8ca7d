import type { EngineContext } from '../../context/context.ts'
import { isValidAt } from '../../credentials/certificate-holder.ts'
import type {
  ChannelRefusal,
  Misbehaviour,
  RefusalCode,
  RetryHint,
  SocketAdmission,
} from '../../facts/fabric/messages/index.ts'
import type { RouterAdmission } from '../../ports/router-presence.ts'

const REFUSALS = {
  unknown: 'unknown',
  disabled: 'disabled',
  unverified: 'not-enrolled',
  fingerprint: 'wrong-fingerprint',
} as const satisfies Readonly<Record<string, ChannelRefusal>>

/** Names the reason for which a router is refused, in the words of its answer. */
export function refusalOf(admission: RouterAdmission): ChannelRefusal | undefined {
  return admission.accepted ? undefined : REFUSALS[admission.reason]
}

/**
 * Verifies the certificates of a socket: the first must lead to the network's own authority and be valid now. The others of the chain prove
 * nothing, because any peer can present them. The decision about the router compares it with the certificate of the enrollment.
 */
export async function verifySocket(context: EngineContext, chain: readonly Uint8Array[]): Promise<SocketAdmission> {
  const now = context.clock.now()
  if (chain.length === 0) return refused('no-certificate')
  const verdict = await context.pki.verifyClientChain(chain, now)
  if (!verdict.trusted || !isValidAt(verdict.leaf, now)) return refused('untrusted-certificate')
  return { admitted: true, fingerprint: verdict.leaf.fingerprint }
}

function refused(reason: ChannelRefusal): SocketAdmission {
  return { admitted: false, reason }
}

/** The hint to a router for each reason of a refusal. */
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
  /** Undefined for the hint of the code. */
  readonly hint?: RetryHint
  readonly circuitId?: string
  readonly misbehaviour?: Misbehaviour
  readonly claim?: RefusedClaim
}

/** The access that was refused. */
interface RefusedClaim {
  readonly identityId: string
  readonly serviceId: string
}

/** A request of a router is refused. */
export class RouterRefusal extends Error {
  readonly code: RefusalCode
  readonly hint: RetryHint
  /** The circuit that was not laid, for the logs of clients. */
  readonly circuitId: string | undefined
  /** The fault, where no router commits it in good faith. */
  readonly misbehaviour: Misbehaviour | undefined
  /** The identity and the service whose access was judged; undefined where the request failed before. */
  readonly claim: RefusedClaim | undefined

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    const { hint, circuitId, misbehaviour, claim } = details
    super(message)
    this.name = 'RouterRefusal'
    this.code = code
    this.hint = hint ?? HINTS[code]
    this.circuitId = circuitId
    this.misbehaviour = misbehaviour
    this.claim = claim
  }
}
