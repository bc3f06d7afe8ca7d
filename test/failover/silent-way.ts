import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a port of this machine that can be cut: bytes vanish then, and nobody hears of an end, as where packets are dropped. */
export class SilentWay {
  readonly port: number
  readonly #close: () => void
  readonly #sockets: Set<Socket>
  #isCut = false

  private constructor(port: number, sockets: Set<Socket>, close: () => void) {
    this.port = port
    this.#sockets = sockets
    this.#close = close
  }

  static async to(target: number): Promise<SilentWay> {
    const sockets = new Set<Socket>()
    const server = createServer((inside) => {
      const outside = connect(target, '127.0.0.1')
      for (const [one, other] of [
        [inside, outside],
        [outside, inside],
      ] as const) {
        sockets.add(one)
        one
          .on('error', () => undefined)
          .once('close', () => {
            sockets.delete(one)
            if (!way.#isCut) other.destroy()
          })
        one.on('data', (bytes: Buffer) => {
          if (!way.#isCut) other.write(bytes)
        })
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const way = new SilentWay(port, sockets, () => server.close())
    return way
  }

  cut(): void {
    this.#isCut = true
  }

  /** The way is open for new connections; those over which bytes were lost end. */
  mend(): void {
    this.#isCut = false
    this.#destroyAll()
  }

  close(): void {
    this.#close()
    this.#destroyAll()
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
