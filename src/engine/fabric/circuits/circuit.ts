import type { CircuitCourse, CircuitEnds } from '../../../domain/fabric/index.ts'
import type { PeerData } from '../../../ports/fabric/index.ts'
import type { Party } from '../rights/service-rights.ts'

/** Who is at one end of a circuit. */
export interface CircuitParty extends Party {
  /**
   * Its posture, as clients report it to this controller, must pass as long as the circuit lasts. It is so from the beginning
   * where its router judges none, and elsewhere once it passed here: its router judges what clients report there.
   */
  mustPass: boolean
}

/** A circuit that is laid. */
export interface Circuit {
  readonly id: string
  readonly client: CircuitParty
  readonly serviceId: string
  readonly terminatorId: string
  /** Who hosts the service; undefined where an operator registered the address. */
  readonly host: CircuitParty | undefined
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
