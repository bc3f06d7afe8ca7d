import type { DialTrace, Path } from '../rules/index.ts'
import type { FromRouter, LinkListener, RouterSoftware } from './from-router.ts'
import type { ToRouter } from './to-router.ts'

/** A circuit in reports to operators. */
export interface CircuitView {
  readonly id: string
  /** The identity that dialed. */
  readonly clientId: string
  /** The service session behind it, if any. */
  readonly sessionId?: string | undefined
  readonly serviceId: string
  readonly terminatorId: string
  readonly path: Path
  readonly tags: Readonly<Record<string, string>>
  /** Epoch ms. */
  readonly createdAt: number
}

/** A query for circuits: all of them, a single circuit by its id, or the circuits of a service session. */
export interface CircuitQuestion {
  readonly circuitId?: string | undefined
  readonly sessionId?: string | undefined
}

/** A router, as the process with its channel reports it to the other processes over the same store. */
export interface HeldRouter {
  readonly id: string
  readonly isEdgeRouter: boolean
  readonly fingerprint: string
  readonly software: RouterSoftware
  readonly capabilities: readonly number[]
  /** Epoch ms. */
  readonly connectedAt: number
  readonly linkListeners: readonly LinkListener[]
  readonly terms: { readonly cost: number; readonly noTraversal: boolean }
  readonly isHeard: boolean
  readonly isQuiesced: boolean
}

/** Every message of a process to another process whose routers it uses. A message with a number gets an answer with the same number. */
export type ToHolder =
  /** Subscribes to a router's messages about links and circuits, or ends the subscription. */
  | { readonly type: 'follow'; readonly routerId: string; readonly follows: boolean }
  /** A message for a router that the other process holds. */
  | { readonly type: 'to-router'; readonly routerId: string; readonly message: ToRouter }
  | ({ readonly type: 'list-circuits'; readonly number: number } & CircuitQuestion)
  | {
      readonly type: 'end-circuit'
      readonly number: number
      readonly circuitId: string
      readonly immediate: boolean
    }
  | {
      readonly type: 'change-link'
      readonly linkId: string
      readonly staticCost?: number | undefined
      readonly isDown?: boolean | undefined
    }
  /** Waits for the next dial of an identity to a service that begins within some time. */
  | {
      readonly type: 'follow-dial'
      readonly number: number
      readonly identityId: string
      readonly serviceId: string
      readonly waitMs: number
    }
  /** Ends the wait for a dial. */
  | { readonly type: 'unfollow-dial'; readonly number: number }
  /** Answers the circuits of a list that the process created. */
  | { readonly type: 'own-circuits'; readonly number: number; readonly circuitIds: readonly string[] }

/** Every message of a process to another process that uses its routers. */
export type FromHolder =
  /** The routers that it holds: all of them, or the changes. */
  | {
      readonly type: 'routers'
      readonly isFull: boolean
      readonly held: readonly HeldRouter[]
      readonly gone: readonly string[]
    }
  | { readonly type: 'from-router'; readonly routerId: string; readonly message: FromRouter }
  | {
      readonly type: 'circuits'
      readonly number: number
      readonly circuits: readonly CircuitView[]
      /** True when more circuits follow under the same number. */
      readonly hasMore: boolean
    }
  | { readonly type: 'circuit-ended'; readonly number: number; readonly wasOpen: boolean }
  /** The awaited dial; null if none came. */
  | { readonly type: 'dial-traced'; readonly number: number; readonly trace: DialTrace | null }
  /** Asks which of some circuits the other process created. */
  | { readonly type: 'whose-circuits'; readonly number: number; readonly circuitIds: readonly string[] }

/** The side of a connection between two processes: the dialing process uses the routers of the accepting process. */
export type ProcessSide = 'dialed' | 'accepted'

/**
 * The proofs by which two processes over the same store know each other: each proves that it has the key that seals secrets in the store. A
 * proof is valid for one side of one TLS connection, which its binding identifies.
 */
export interface ProcessProofs {
  prove(side: ProcessSide, binding: Uint8Array): Promise<string>
  /**
   * The address at which routers reach the other process, by its proof for its side; empty for a process that names none, undefined for any
   * other party and for this process itself.
   */
  verify(proof: string, side: ProcessSide, binding: Uint8Array): Promise<string | undefined>
}

/** The channel to a process that holds routers. */
export interface HolderChannel {
  send(message: ToHolder): void
  close(): void
}

/** Receives the messages of a process that holds routers. */
export interface HolderListener {
  received(message: FromHolder): void
  /** The connection is over; `failure` where a message that could not be taken ended it. */
  closed(failure?: unknown): void
}

/** Connects to another process at its control address. Rejects when the process cannot be reached or does not belong to this network. */
export type DialProcess = (address: string, proofs: ProcessProofs, listener: HolderListener) => Promise<HolderChannel>

/** The channel to a process that uses the routers of this process. */
export interface ProcessChannel {
  send(message: FromHolder): void
  close(): void
}

/** The session of a process that uses the routers of this process. */
export interface ProcessSession {
  received(message: ToHolder): void
  /** The connection is over; `failure` where a message that could not be taken ended it. */
  closed(failure?: unknown): void
}
