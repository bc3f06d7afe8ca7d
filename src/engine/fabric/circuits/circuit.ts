import type { CircuitCourse, CircuitEnds } from '../../../domain/fabric/index.ts'
import type { PeerData } from '../../../ports/fabric/index.ts'

/** On whose behalf a circuit is laid. */
export interface CircuitClient {
  readonly identityId: string
  /** The API session behind it; undefined for a router that dials for its own host. */
  readonly apiSessionId: string | undefined
  /** The stored service session; undefined where the API session itself, or the router, says who asks. */
  readonly sessionId: string | undefined
  /**
   * Its posture, as clients report it to this controller, must pass as long as the circuit lasts. It is so from the beginning
   * where its router judges none, and elsewhere once it passed here: its router judges what clients report there.
   */
  mustPass?: boolean
}

/** A circuit that is laid. */
export interface Circuit {
  readonly id: string
  readonly client: CircuitClient
  readonly serviceId: string
  readonly terminatorId: string
  /** The identity that hosts the service; empty where an operator registered the address. */
  readonly hostId: string
  readonly ends: CircuitEnds
  /** What the last router dials. */
  readonly egress: { readonly binding: string; readonly destination: string; readonly peerData: PeerData }
  readonly tags: ReadonlyMap<string, string>
  /** Epoch ms. */
  readonly createdAt: number
  course: CircuitCourse
}

/** The attempt number by which routers know that an open circuit changes its way. */
export const MOVING_ATTEMPT = 99_969_996
