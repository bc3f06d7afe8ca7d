import type { Channel, ChannelListener, Lane } from './channel.ts'
import { EDGE_HEADER } from './edge-messages.ts'
import type { Frame } from './frame.ts'
import { readUint32 } from './header-values.ts'

/**
 * Bytes that a channel which has drained may still hold: it reports that as soon as the rest is with its socket. A channel with more than
 * this drains later, and reports it.
 */
const DRAINED_BYTES = 131_072

/**
 * Several channels between the same two ends, used as a single channel. The messages of one connection use one data channel and keep their
 * order. Messages that open, close and ask use a control channel, if there is any. The group is over when its last data channel is.
 */
export class ChannelGroup implements Channel {
  readonly #lanes: Readonly<Record<Lane, Channel[]>> = { data: [], control: [] }
  readonly #most: number
  #listener: ChannelListener | undefined
  #isPaused = false
  #isClosed = false

  /** `most` channels are taken. */
  constructor(most: number) {
    this.#most = most
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get queuedBytes(): number {
    let bytes = 0
    for (const { queuedBytes } of this.#lanes.data) bytes += queuedBytes
    for (const { queuedBytes } of this.#lanes.control) bytes += queuedBytes
    return bytes
  }

  queuedBytesOf(message: Frame): number {
    const channel = this.#channelFor(message, 'data')
    return channel?.queuedBytesOf?.(message) ?? channel?.queuedBytes ?? 0
  }

  /** Adds a channel; answers false where the group is over, or has enough. */
  add(channel: Channel, lane: Lane): boolean {
    const channels = this.#lanes[lane]
    if (this.#isClosed || this.#all.length >= this.#most) return false
    channels.push(channel)
    channel.listen({
      onMessage: (message) => this.#listener?.onMessage(message),
      onDrain: () => this.#drained(),
      onTrouble: (what) => this.#listener?.onTrouble?.(what),
      onClose: () => {
        channels.splice(channels.indexOf(channel), 1)
        if (this.#lanes.data.length === 0) this.#end()
        // Everything that waited may have waited for this channel.
        else this.#drained()
      },
    })
    if (this.#isPaused) channel.pause()
    return true
  }

  send(message: Frame, lane: Lane = 'control'): void {
    this.#channelFor(message, lane)?.send(message)
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener
  }

  pause(): void {
    this.#isPaused = true
    for (const channel of this.#all) channel.pause()
  }

  resume(): void {
    this.#isPaused = false
    for (const channel of this.#all) channel.resume()
  }

  close(): void {
    for (const channel of this.#all) channel.close()
    this.#end()
  }

  destroy(): void {
    for (const channel of this.#all) channel.destroy()
    this.#end()
  }

  #channelFor({ headers }: Frame, lane: Lane): Channel | undefined {
    const { data, control } = this.#lanes
    const channels = lane === 'control' && control.length > 0 ? control : data
    const connection = readUint32(headers, EDGE_HEADER.connection) ?? 0
    return channels[connection % channels.length]
  }

  get #all(): readonly Channel[] {
    return [...this.#lanes.data, ...this.#lanes.control]
  }

  #drained(): void {
    if (this.#all.every(({ queuedBytes }) => queuedBytes <= DRAINED_BYTES)) this.#listener?.onDrain?.()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const channel of this.#all) channel.close()
    queueMicrotask(() => this.#listener?.onClose())
  }
}
