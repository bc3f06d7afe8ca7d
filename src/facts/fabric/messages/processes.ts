import type { DialTrace, Path } from '../rules/index.ts'
import type { FromRouter, LinkListener, RouterSoftware } from './from-router.ts'
import type { ToRouter } from './to-router.ts'

/** A circuit as operators see it. */
export interface CircuitView {
  readonly id: string
  /** The identity that dialed. */
  readonly clientId: string
  /** The service session behind it, where there is one. */
  readonly sessionId?: string | undefined
  readonly serviceId: string
  readonly terminatorId: string
  readonly path: Path
  readonly tags: Readonly<Record<string, string>>
  /** Epoch ms. */
  readonly createdAt: number
}

/** The circuits that are meant: all, unless one is named by its id, or those of one service session. */
export interface CircuitQuestion {
  readonly circuitId?: string | undefined
  readonly sessionId?: string | undefined
}

/** A router as the process that holds its channel tells the other processes over the same store. */
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

/** Every message of a process to another one, whose routers it uses. What has a number is answered under it. */
export type ToHolder =
  /** Messages of a router about links and circuits are wanted, or not any more. */
  | { readonly type: 'follow'; readonly routerId: string; readonly follows: boolean }
  /** For a router that the other process holds. */
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
  /** Nobody waits for the dial any more. */
  | { readonly type: 'unfollow-dial'; readonly number: number }
  /** Answers which of some circuits the process laid. */
  | { readonly type: 'own-circuits'; readonly number: number; readonly circuitIds: readonly string[] }

/** Every message of a process to another one that uses its routers. */
export type FromHolder =
  /** The routers that it holds: all of them, or what changed. */
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
      /** More follow under the same number. */
      readonly hasMore: boolean
    }
  | { readonly type: 'circuit-ended'; readonly number: number; readonly wasOpen: boolean }
  /** The dial that was waited for; null where none came. */
  | { readonly type: 'dial-traced'; readonly number: number; readonly trace: DialTrace | null }
  /** Which of the circuits did you lay? */
  | { readonly type: 'whose-circuits'; readonly number: number; readonly circuitIds: readonly string[] }

/** The side of a connection between two processes: the dialing one uses the routers of the accepting one. */
export type ProcessSide = 'dialed' | 'accepted'

/**
 * By what two processes over the same store know each other: each shows that it holds the key by which secrets are sealed there.
 * A proof holds for one side of one TLS connection, which its binding tells from all others.
 */
export interface ProcessProofs {
  prove(side: ProcessSide, binding: Uint8Array): Promise<string>
  /** The id of the other process, by its proof for its side; undefined for anybody else, this process included. */
  verify(proof: string, side: ProcessSide, binding: Uint8Array): Promise<string | undefined>
}

/** The way to a process that holds routers. */
export interface HolderChannel {
  send(message: ToHolder): void
  close(): void
}

/** Hears what a process tells that holds routers. */
export interface HolderListener {
  received(message: FromHolder): void
  closed(): void
}

/** Connects to another process at its control address. Rejects when it cannot be reached, or is none of this network. */
export type DialProcess = (address: string, proofs: ProcessProofs, listener: HolderListener) => Promise<HolderChannel>

/** The way to a process that uses the routers of this one. */
export interface ProcessChannel {
  send(message: FromHolder): void
  close(): void
}

/** A process that uses the routers of this one. */
export interface ProcessSession {
  received(message: ToHolder): void
  closed(): void
}
