import type { TLSSocket } from 'node:tls'
import type { Timer } from '../../channel/conversation.ts'
import { DATA_FLAG } from '../../channel/edge-messages.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import type { Line, ServiceConnection } from '../service-connection.ts'

/** Milliseconds for which a connection that was closed may still send what was written before. */
const CLOSING_MS = 10_000
const NOTHING = new Uint8Array(0)

/** The line of a connection whose bytes pass through TLS between its two ends. */
export class TlsLine implements Line {
  readonly tls: TLSSocket
  readonly #carrier: ServiceConnection
  readonly #timer: Timer
  #connection: ServiceConnection | undefined
  /** How the other end stopped to send: by its word in TLS, or cut off without it, which a router can do at any time. */
  #end: 'said' | 'cut' | undefined

  /** `carrier` carries the records of TLS, and nothing else reads it. It is made before a byte of the other end is read. */
  constructor(tls: TLSSocket, carrier: ServiceConnection, timer: Timer) {
    this.tls = tls
    this.#carrier = carrier
    this.#timer = timer
    const push = tls.push.bind(tls)
    tls.push = (chunk, encoding) => {
      if (chunk === null) this.#end ??= carrier.readableEnded ? 'cut' : 'said'
      return push(chunk, encoding)
    }
  }

  /** Bytes flow to a connection from now on. */
  begin(connection: ServiceConnection): void {
    this.#connection = connection
    const tls = this.tls
    for (const stream of [this.#carrier, tls]) stream.on('error', (error) => this.#over(error))
    tls.on('close', () => this.#over())
    tls.on('data', (chunk: Uint8Array) => connection.arrived(chunk, 0))
    tls.on('end', () => {
      if (this.#end === 'said') connection.arrived(NOTHING, DATA_FLAG.end)
      else this.#over(cutShort())
    })
  }

  send(body: Uint8Array, flags: number): boolean {
    const hasRoom = body.length === 0 || this.tls.write(body)
    if ((flags & DATA_FLAG.end) !== 0) this.tls.end()
    return hasRoom
  }

  whenWritable(work: () => void): void {
    if (this.tls.destroyed) queueMicrotask(work)
    else if (this.tls.writableNeedDrain) this.tls.once('drain', work)
    else queueMicrotask(work)
  }

  hold(): void {
    this.tls.pause()
  }

  release(): void {
    this.tls.resume()
  }

  /** A connection that ends by an error says nothing to the other end, which learns that it was cut short. */
  close(): void {
    const tls = this.tls
    if (this.#connection?.errored != null || tls.writableFinished) {
      tls.destroy()
      return
    }
    const cancel = this.#timer(CLOSING_MS, () => tls.destroy())
    tls.once('close', cancel)
    tls.end(() => tls.destroy())
  }

  #over(error?: Error): void {
    const connection = this.#connection
    if (connection === undefined || connection.destroyed) return
    if (error instanceof ConnectionFailure) connection.over(error)
    else if (error !== undefined)
      connection.over(new ConnectionFailure('CONNECTION_LOST', wordsOf(connection, error), { cause: error }))
    else if (this.#end === 'said') connection.over()
    else connection.over(cutShort())
  }
}

function wordsOf({ service }: ServiceConnection, { message }: Error): string {
  return `${service}: the connection between the two ends broke: ${message}`
}

function cutShort(): ConnectionFailure {
  return new ConnectionFailure('CONNECTION_LOST', 'the connection was cut short: the other end did not end it')
}
