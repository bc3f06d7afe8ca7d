import type { Frame } from './frame.ts'

/** The trouble of a channel: malformed frames, too many of them, or a peer that does not read. */
export type ChannelTrouble = 'malformed' | 'flood' | 'slow-reader'

/** The sockets of a channel that a message may use: `data` for payloads, `control` for opening, closing and questions. */
export type Lane = 'data' | 'control'

/** Receives the messages and the events of a channel. */
export interface ChannelListener {
  onMessage(message: Frame): void
  onClose(): void
  /** Called when all messages that waited for the peer have gone out. */
  onDrain?(): void
  /** A flood is slowed down; any other trouble ends the channel. */
  onTrouble?(what: ChannelTrouble): void
}

/**
 * A way for messages between two ends, both ways and in order: a TLS socket ({@link ChannelSocket}), or two ends in one
 * process ({@link channelPair}). The receiver of a channel listens at once.
 */
export interface Channel {
  /** Sends a message; it is dropped if the channel is over. Its body must not change afterwards. A channel of one socket has one lane. */
  send(message: Frame, lane?: Lane): void
  /**
   * The bytes that wait because the peer reads more slowly than this end sends. The channel is given up beyond a bound: a sender that
   * passes on messages of others therefore stops reading from them in time, until `onDrain`.
   */
  readonly queuedBytes: number
  /** The part of them that waits for the turns of the connection or circuit of a message. Absent where all messages are in one line. */
  queuedBytesOf?(message: Frame): number
  /** Sets the receiver of all later messages. If the channel is over, it hears so. */
  listen(listener: ChannelListener): void
  /** Reads nothing until `resume`; that slows the peer down. */
  pause(): void
  resume(): void
  /** Ends the channel; earlier messages arrive if the peer reads them within a second. */
  close(): void
  /** Ends the channel at once. */
  destroy(): void
}

/** Bounds of what may wait for a peer, bytes. */
export interface WaitingBounds {
  readonly most: number
  /** The bound where little of it is of the sender in question: others send much, and it would pay for them. */
  readonly ofOthers: number
}

/** Bytes of a sender that are little. */
const LITTLE_BYTES = 131_072

/** Whether more bytes wait for a peer than may; `ofSender` answers those of the sender in question. */
export function isTooMuch(queuedBytes: number, ofSender: () => number, { most, ofOthers }: WaitingBounds): boolean {
  return queuedBytes > most && (queuedBytes > ofOthers || ofSender() >= LITTLE_BYTES)
}
