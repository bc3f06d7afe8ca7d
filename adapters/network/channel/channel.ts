import type { Frame } from './frame.ts'

/** The trouble of a channel: no frames, too many of them, or a peer that does not read. */
export type ChannelTrouble = 'malformed' | 'flood' | 'slow-reader'

/** Of a channel of several sockets: those for what flows, and those for what opens, closes and asks. */
export type Lane = 'data' | 'control'

/** Hears of what happens on a channel. */
export interface ChannelListener {
  onMessage(message: Frame): void
  onClose(): void
  /** Called when all messages that waited for the peer have gone out. */
  onDrain?(): void
  /** A flood is slowed down; after the other two the channel is over. */
  onTrouble?(what: ChannelTrouble): void
}

/**
 * A way for messages between two ends, both ways and in order: a TLS socket ({@link ChannelSocket}), or two ends in one
 * process ({@link channelPair}). The receiver of a channel listens at once.
 */
export interface Channel {
  /**
   * Sends a message; one that the other end cannot get any more is dropped. Its body must not change afterwards. A channel of one
   * socket has one lane.
   */
  send(message: Frame, lane?: Lane): void
  /**
   * The bytes that wait because the peer reads more slowly than this end sends. There is a bound beyond which the channel is
   * given up: a sender that passes on messages of others stops reading from them before, until `onDrain`.
   */
  readonly queuedBytes: number
  /** Sets the receiver of what arrives from now on. */
  listen(listener: ChannelListener): void
  /** Takes nothing more in until `resume`; the peer is slowed down. */
  pause(): void
  resume(): void
  /** Ends the channel; what was sent before arrives, if the peer reads it within a second. */
  close(): void
  /** Ends the channel at once. */
  destroy(): void
}
