import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { routerSide } from 'portcullis/fabric'

/** How a client opens the channel of operators. */
export interface OperatorDial {
  readonly port: number
  /** Lines of the request behind those of the websocket. */
  readonly headers?: readonly string[]
  readonly path?: string
  /** Whether the client keeps its end open when the server has closed its own. */
  readonly allowHalfOpen?: boolean
}

/** A program of an operator: it speaks the channel protocol in a websocket, or whatever else a test wants. */
export class OperatorClient {
  /** The answer to the request, without its body. */
  readonly head: string
  readonly socket: TLSSocket
  /** Frames in the order of arrival. */
  readonly received: routerSide.Frame[] = []
  readonly #waiting = new Set<() => void>()
  #bytes = Buffer.alloc(0)
  #sequence = 0

  private constructor(socket: TLSSocket, head: string, rest: Buffer) {
    this.socket = socket
    this.head = head
    socket.on('data', (bytes: Buffer) => {
      if (this.status === 101) this.#take(bytes)
    })
    socket.on('close', () => this.#look())
    if (this.status === 101) this.#take(rest)
  }

  static async dial({
    port,
    headers = [],
    path = '/fabric/v1/ws-api',
    ...open
  }: OperatorDial): Promise<OperatorClient> {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...open }
    const socket = connect(options)
    socket.on('error', () => undefined)
    await once(socket, 'secureConnect')
    const lines = [
      `GET ${path} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      ...headers,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    let bytes = Buffer.alloc(0)
    while (!bytes.includes('\r\n\r\n')) bytes = Buffer.concat([bytes, ...((await once(socket, 'data')) as Buffer[])])
    const end = bytes.indexOf('\r\n\r\n') + 4
    return new OperatorClient(socket, bytes.subarray(0, end).toString(), bytes.subarray(end))
  }

  get status(): number {
    return Number(this.head.split(' ')[1])
  }

  /** Resolves when the server closed the connection. */
  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close')
  }

  /** Sends a frame of the channel as one message; answers its number. */
  send(contentType: number, body: Uint8Array = new Uint8Array()): number {
    const sequence = ++this.#sequence
    const frame = { contentType, sequence, headers: new Map<number, Uint8Array>(), body: [body] }
    this.socket.write(message(Buffer.concat(routerSide.encodeFrame(frame))))
    return sequence
  }

  /** Sends a frame and waits for its answer. */
  async ask(contentType: number, body?: Uint8Array): Promise<routerSide.Frame> {
    const sequence = this.send(contentType, body)
    return this.next((frame) => routerSide.readUint32(frame.headers, routerSide.HEADER.replyFor) === sequence)
  }

  /** The first frame, received or to come, that fulfils a condition. */
  async next(fulfils: (frame: routerSide.Frame) => boolean): Promise<routerSide.Frame> {
    for (;;) {
      const found = this.received.find(fulfils)
      if (found !== undefined) return found
      if (this.socket.closed) throw new Error('the channel was closed')
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  close(): void {
    this.socket.destroy()
  }

  #look(): void {
    for (const look of this.#waiting) look()
    this.#waiting.clear()
  }

  /** Every message of the server must be one frame, whole. */
  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (let payload = this.#message(); payload !== undefined; payload = this.#message()) {
      if (payload.opcode !== 2) continue
      const frames = new routerSide.FrameReader({ headers: 1e6, body: 1e8 }).push(payload.bytes)
      if (frames.length !== 1) throw new Error('a message that is not one frame')
      this.received.push(...frames)
    }
    this.#look()
  }

  #message(): { readonly opcode: number; readonly bytes: Buffer } | undefined {
    const bytes = this.#bytes
    if (bytes.length < 2) return undefined
    const short = (bytes[1] ?? 0) & 0x7f
    const start = short === 127 ? 10 : short === 126 ? 4 : 2
    if (bytes.length < start) return undefined
    const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
    if (bytes.length < start + length) return undefined
    this.#bytes = bytes.subarray(start + length)
    return { opcode: (bytes[0] ?? 0) & 0x0f, bytes: bytes.subarray(start, start + length) }
  }
}

/** A masked message of a client; `first` is its first byte, that of a whole binary message unless given. */
export function message(payload: Uint8Array, first = 0x82): Buffer {
  const mask = randomBytes(4)
  const length = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10)
  length[0] = first
  length[1] = 0x80 | (payload.length < 126 ? payload.length : payload.length < 65_536 ? 126 : 127)
  if (length.length === 4) length.writeUInt16BE(payload.length, 2)
  if (length.length === 10) length.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([length, mask, payload.map((byte, index) => byte ^ (mask[index & 3] ?? 0))])
}
