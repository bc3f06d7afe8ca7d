import type { FromRouter, ToRouter } from '../../../../src/control-channel.ts'
import type { TracedChannel } from './channel-traces.ts'

/** A controller that an edge router is connected to: by calls in one process, or by a control channel. It knows nothing of how. */
export interface ConnectedController {
  /** Stays the same over restarts of the controller. */
  readonly id: string
  /** It judges posture at every dial and while circuits last. Other controllers leave the posture of bearer sessions to routers. */
  readonly judgesPosture: boolean
  /** It judges posture, and wants the reports of endpoints at the router. */
  readonly takesPosture?: boolean
  /** It is of the line 1.6, which answers no dial without a service session. */
  readonly isOfOldLine?: boolean
  /** It has answered no heartbeat for some seconds, and sent nothing: another controller is asked where there is one. */
  readonly isSilent?: boolean
  /** The channel to it, where there is one. */
  readonly traced?: TracedChannel
  /**
   * Sends a message; resolves with its answer, undefined for a message without an answer. Rejects when the channel ends before, or after
   * half a minute.
   */
  ask(message: FromRouter): Promise<ToRouter | undefined>
}

/** The receiver of the messages of a controller. */
export interface ControllerListener {
  /** The controller sent a message that is no answer. Resolves with the answer to it, if any. */
  take(message: ToRouter): Promise<FromRouter | undefined>
  /** A message of a content type could not be taken, for the reason of `error`. */
  unread?(contentType: number, error: unknown): void
  /** The way is lost. */
  lost(): void
}

/** An edge router, as it takes controllers once each is connected. */
export interface TakesControllers {
  connected(controller: ConnectedController): ControllerListener
}
