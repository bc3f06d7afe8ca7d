import { Duplex } from 'node:stream'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { DATA_FLAG } from '../channel/edge-messages.ts'
import { ConnectionFailure } from './connection-failure.ts'
import type { Decryption, Encryption, EndToEnd } from './end-to-end.ts'
import type { SessionKeys } from './streams/secret-streams.ts'

/** The identity at the other end of a connection that was accepted. */
export interface Caller {
  /** The id of its identity, as the router vouches for it; undefined with routers before 2.0. */
  readonly id: string | undefined
  /** The name of its identity, as the router vouches for it; undefined with routers before 2.0. */
  readonly name: string | undefined
  /** The name that it gives itself. The name is unverified: decide nothing by it. */
  readonly claimedName: string
  /**
   * Whether it proves `id` and `name` to this end by its certificate, whatever routers say: `host('payroll', app, { proved: true })`. A
   * connection is handed over once it has; `accept` is asked before.
   */
  readonly isProved: boolean
}

/** The facts of a connection from its beginning. */
export interface ConnectionFacts {
  readonly service: string
  /** The dialer; undefined on its own side. */
  readonly caller: Caller | undefined
  /** Data that the dialer sent along for the application; empty if it sent none. */
  readonly applicationData: Uint8Array
  /** Finds the connection in the lists and logs of controllers. */
  readonly circuitId: string
  /** Whether no router can read it. */
  readonly isEncrypted: boolean
  /** The identity that the other end proved to be; undefined where it proved nothing. */
  readonly provedPeer?: ProvedPeer
}

/** The identity at the other end of a connection, as it proved itself by its certificate. */
export interface ProvedPeer {
  readonly id: string
  readonly name: string
}

/** The secrets that both ends of a connection agreed on. */
export interface Secrets {
  readonly cipher: EndToEnd
  readonly keys: SessionKeys
}

/** The way of a connection's messages to its router. */
export interface Line {
  /** Sends a message; answers false when the next should wait for `whenWritable`. */
  send(body: Uint8Array, flags: number): boolean
  whenWritable(work: () => void): void
  /** Receives nothing more until `release`, because the reader does not read. */
  hold(): void
  release(): void
  /** The connection is over at this end. */
  close(): void
}

/** Bytes in one message: as many as tunnelers of the field send at once, so that every peer has room for them. */
const MESSAGE_BYTES = 32_768
/** Bytes that may wait to be read before nothing more is taken in: a router that keeps no windows slows other connections then. */
const MOST_UNREAD_BYTES = 1024 * 1024

/**
 * A connection to a service, or from a dialer: a stream in both directions; each end may end its own direction and still read. It can be
 * used like a socket, even by `node:http`. It is destroyed with a {@link ConnectionFailure} when it cannot go on.
 */
export class ServiceConnection extends Duplex {
  #line: Line
  #facts: ConnectionFacts
  #encryption: Encryption | undefined
  #decryption: Decryption | undefined
  /** Messages that arrived before {@link ServiceConnection.begin}. */
  #early: [Uint8Array, number][] | undefined = []
  #isHeld = false
  /** The other end sends nothing more. */
  #isEnded = false
  /** The router, or the other end, closed it: nothing can be sent. */
  #isOver = false
  /** Cancels the timer of `setTimeout`, which goes off and begins anew as long as data comes. */
  #cancelIdle: (() => void) | undefined
  #idleMs = 0
  #activeAt = 0
  #carriesTls = false

  /** @internal */
  constructor(line: Line, service: string) {
    super({ allowHalfOpen: true })
    this.#line = line
    this.#facts = { service, caller: undefined, applicationData: new Uint8Array(), circuitId: '', isEncrypted: false }
  }

  /** The name of the service. */
  get service(): string {
    return this.#facts.service
  }

  /** The dialer, where this end hosts. */
  get caller(): Caller | undefined {
    return this.#facts.caller
  }

  /** Data that the dialer sent along for the application. */
  get applicationData(): Uint8Array {
    return this.#facts.applicationData
  }

  /** Finds the connection in the lists and logs of controllers. */
  get circuitId(): string {
    return this.#facts.circuitId
  }

  /** Whether it is encrypted from end to end: no router can read it. */
  get isEncrypted(): boolean {
    return this.#facts.isEncrypted
  }

  /** The identity that the other end proved to be by its certificate; undefined where it proved nothing. */
  get provedPeer(): ProvedPeer | undefined {
    return this.#facts.provedPeer
  }

  /** The name of the dialer, where `net.Socket` has an address. */
  get remoteAddress(): string {
    return this.#facts.caller?.name ?? this.#facts.service
  }

  /** Whether arriving messages can be read. @internal */
  get hasBegun(): boolean {
    return this.#early === undefined
  }

  /** Data may flow, by another line if `line` is given. @internal */
  begin(facts: ConnectionFacts, secrets: Secrets | undefined, line: Line = this.#line): void {
    this.#facts = facts
    this.#line = line
    if (secrets !== undefined) {
      this.#encryption = secrets.cipher.encrypt(secrets.keys.send)
      this.#decryption = secrets.cipher.decrypt(secrets.keys.receive)
      this.#line.send(this.#encryption.header, 0)
    }
    const early = this.#early ?? []
    this.#early = undefined
    for (const [body, flags] of early) this.arrived(body, flags)
  }

  /** A message arrived. @internal */
  arrived(body: Uint8Array, flags: number): void {
    if (this.destroyed || this.#isEnded) return
    if (this.#early !== undefined) {
      this.#early.push([body, flags])
      return
    }
    this.#active()
    try {
      const plain = this.#decryption === undefined || body.length === 0 ? body : this.#decryption.open(body)
      if (plain !== undefined && plain.length > 0) this.#give(plain, flags)
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if ((flags & DATA_FLAG.end) !== 0) this.#end()
    else if (!this.#isHeld && this.readableLength > MOST_UNREAD_BYTES) {
      this.#isHeld = true
      this.#line.hold()
    }
  }

  /** The other end, or a router, ended it. Earlier data can still be read. @internal */
  over(failure?: ConnectionFailure): void {
    this.#isOver = true
    if (failure !== undefined) {
      this.destroy(failure)
      return
    }
    if (this.destroyed) return
    this.#end()
    if (this.readableEnded) {
      this.destroy()
      return
    }
    this.once('end', () => this.destroy())
    // Without unread data the stream ends at once, even if the program does not read.
    if (this.readableLength === 0) this.read(0)
  }

  override _read(): void {
    this.#release()
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    this.#active()
    this.#sendFrom(chunk, 0, done)
  }

  /** TLS between its two ends says itself that a direction is over, and goes on to write then: only the end of both is told. @internal */
  carryTls(): void {
    this.#carriesTls = true
  }

  override _final(done: (error?: Error) => void): void {
    if (this.#carriesTls || this.#isOver || this.#line.send(new Uint8Array(), DATA_FLAG.end)) done()
    else this.#line.whenWritable(() => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#release()
    this.#cancelIdle?.()
    this.#idleMs = 0
    this.#early = undefined
    this.#encryption?.free()
    this.#decryption?.free()
    this.#line.close()
    done(error)
  }

  /** For programs that expect a socket: routers send data at once. */
  setNoDelay(): this {
    return this
  }

  /** For programs that expect a socket: the way to the router is kept alive. */
  setKeepAlive(): this {
    return this
  }

  /** Emits `timeout` after `milliseconds` without data either way, as sockets do; 0 for never. */
  setTimeout(milliseconds: number, listener?: () => void): this {
    this.#cancelIdle?.()
    this.#cancelIdle = undefined
    if (listener !== undefined) this.once('timeout', listener)
    this.#idleMs = this.destroyed ? 0 : milliseconds
    this.#active()
    return this
  }

  #active(): void {
    if (this.#idleMs <= 0) return
    this.#activeAt = runtime.monotonic()
    if (this.#cancelIdle === undefined) this.#watchIdle(this.#idleMs)
  }

  /** One timer for any number of messages: it looks when it goes off. */
  #watchIdle(ms: number): void {
    this.#cancelIdle = runtime.timer(ms, () => {
      this.#cancelIdle = undefined
      const leftMs = this.#activeAt + this.#idleMs - runtime.monotonic()
      if (leftMs > 0) this.#watchIdle(leftMs)
      else this.emit('timeout')
    })
  }

  /** For programs that expect a socket: the identity holds the process, not the connection. */
  ref(): this {
    return this
  }

  /** As {@link ServiceConnection.ref}. */
  unref(): this {
    return this
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.push(null)
  }

  #give(plain: Uint8Array, flags: number): void {
    if ((flags & DATA_FLAG.isList) === 0) {
      this.push(plain)
      return
    }
    const view = new DataView(plain.buffer, plain.byteOffset, plain.length)
    for (let position = 0; position + 2 <= plain.length; ) {
      const end = position + 2 + view.getUint16(position, true)
      this.push(plain.subarray(position + 2, end))
      position = end
    }
  }

  #sendFrom(chunk: Uint8Array, start: number, done: (error?: Error) => void): void {
    for (let position = start; position < chunk.length; position += MESSAGE_BYTES) {
      if (this.#isOver || this.destroyed) {
        done(new ConnectionFailure('CONNECTION_LOST', `the other end of ${this.service} is gone`))
        return
      }
      const plain = chunk.subarray(position, position + MESSAGE_BYTES)
      // The writer may reuse the memory after the callback.
      const body = this.#encryption === undefined ? Uint8Array.from(plain) : this.#encryption.frame(plain)
      if (this.#line.send(body, 0)) continue
      this.#line.whenWritable(() => this.#sendFrom(chunk, position + MESSAGE_BYTES, done))
      return
    }
    done()
  }

  #release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#line.release()
  }
}
