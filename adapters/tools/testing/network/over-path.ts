import { type Duplex, duplexPair } from 'node:stream'
import type { ControllerFetch, ControlPlane } from '../../../../src/index.ts'
import type { Channel, ChannelListener, Frame, Lane } from '../../../network/channel/index.ts'
import { ConnectionDropped } from '../faults.ts'
import type { NetworkPath, Way } from './network-path.ts'

/** Puts a path between both ends of a channel. */
export function channelsOver(path: NetworkPath, ends: readonly [Channel, Channel]): readonly [Channel, Channel] {
  const end = () => {
    for (const channel of over) channel.destroy()
  }
  const forget = path.connected(end)
  const over = [new ChannelOver(path, ends[0], forget), new ChannelOver(path, ends[1], forget)] as const
  return over
}

/** An end of a channel whose messages take a path. */
class ChannelOver implements Channel {
  readonly #channel: Channel
  readonly #way: Way
  readonly #forget: () => void
  #listener: ChannelListener | undefined
  #isClosed = false

  constructor(path: NetworkPath, channel: Channel, forget: () => void) {
    this.#channel = channel
    this.#way = path.way()
    this.#forget = forget
  }

  get queuedBytes(): number {
    return this.#channel.queuedBytes + this.#way.bytes
  }

  send(message: Frame, lane?: Lane): void {
    if (this.#isClosed) return
    const bytes = message.body.reduce((sum, { length }) => sum + length, 0)
    this.#way.send(() => this.#channel.send(message, lane), bytes)
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener
    this.#channel.listen({
      ...listener,
      onMessage: (message) => {
        if (!this.#isClosed) listener.onMessage(message)
      },
      onClose: () => this.#over(),
    })
  }

  pause(): void {
    this.#channel.pause()
  }

  resume(): void {
    this.#channel.resume()
  }

  close(): void {
    // The peer hears of it when it arrives; this end is over at once.
    this.#way.send(() => this.#channel.close())
    queueMicrotask(() => this.#over())
  }

  destroy(): void {
    this.#way.clear()
    this.#channel.destroy()
  }

  #over(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forget()
    this.#listener?.onClose()
  }
}

/** A stream over a path, by its two ends. */
export function streamsOver(path: NetworkPath): readonly [Duplex, Duplex] {
  // As sockets: the end of the other side closes.
  const [one, oneInside] = duplexPair({ allowHalfOpen: false })
  const [otherInside, other] = duplexPair({ allowHalfOpen: false })
  const forget = path.connected(() => {
    for (const stream of [one, other]) stream.destroy()
  })
  for (const [from, to] of [
    [oneInside, otherInside],
    [otherInside, oneInside],
  ] as const) {
    const way = path.way()
    from.on('data', (bytes: Uint8Array) => way.send(() => void to.write(bytes), bytes.length))
    from.on('error', () => undefined)
    from.once('end', () => way.send(() => void to.end()))
    from.once('close', () => {
      forget()
      way.send(() => void to.destroy())
    })
  }
  return [one, other]
}

/** Puts a path between a client and the controller. An answer that has begun goes on. */
export function fetchOver(path: NetworkPath, fetch: ControllerFetch): ControllerFetch {
  return async (request, connection) => {
    await path.passage(request.signal)
    const { broken, forget } = path.break()
    try {
      const response = await Promise.race([fetch(request, connection), broken])
      await path.passage(request.signal)
      return response
    } finally {
      forget()
    }
  }
}

/** Puts a path between the router of a test and its controller. */
export function planeOver(path: NetworkPath, plane: ControlPlane): Pick<ControlPlane, 'connect'> {
  return {
    connect: async (greeting, socket, channel) => {
      await path.passage()
      const down = path.way()
      const end = () => {
        down.clear()
        forget()
        channel.close()
      }
      const forget = path.connected(end)
      const session = await plane.connect(greeting, socket, {
        ...channel,
        send: (message) => down.send(() => channel.send(message)),
        close: () => down.send(end),
      })
      if (typeof session === 'string') {
        forget()
        return session
      }
      return {
        heard: () => session.heard(),
        misbehaved: (what) => session.misbehaved(what),
        receive: async (message) => {
          try {
            await path.passage()
            const answer = await session.receive(message)
            await path.passage()
            return answer
          } catch (error) {
            // The router learns of a cut by the end of its channel.
            if (error instanceof ConnectionDropped) return undefined
            throw error
          }
        },
        closed: () => {
          forget()
          session.closed()
        },
      }
    },
  }
}
