import { type Duplex, duplexPair } from 'node:stream'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { Controller } from '../../../src/index.ts'
import { certificatesIn, createSigningRequest } from '../../network/enrollment/index.ts'
import { type ControlListener, routerSide } from '../../network/fabric/index.ts'

const { CONTENT_TYPE, HEADER, Route } = routerSide

type Headers = ReadonlyMap<number, Uint8Array>
type RouteMessage = ReturnType<typeof Route.decode>

/** The reply of a fake router to a route; undefined for no reply. */
export type RouteReply =
  | { readonly success: true; readonly peerData?: ReadonlyMap<number, Uint8Array> }
  | { readonly success: false; readonly code: number; readonly message: string }
  | undefined

/** Milliseconds that a test waits for a frame: many more than any takes on a busy machine, and less than a test may last. */
const PATIENCE_MS = 10_000

/** How a fake router behaves, where a test wants something else. */
export interface FakeRouterOptions {
  readonly linkListeners?: readonly string[]
  /** The numbers of its capabilities; the capabilities of the line 2.0 unless given. */
  readonly capabilities?: readonly number[]
  /** Whether its hello says its version; it does unless given. */
  readonly saysVersion?: boolean
  /** How it answers routes, at once or later; with success unless given. */
  onRoute?(route: RouteMessage): RouteReply | Promise<RouteReply>
  /** Called with each frame as it arrives. A frame is not kept when the answer is false. */
  onFrame?(frame: routerSide.Frame): boolean
}

/** How a fake router opens a socket; as the first of a new group unless given. */
export interface FakeHello {
  readonly connectionId?: string
  readonly secret?: Uint8Array
  readonly isFirst?: boolean
  readonly type?: string
  /** It handles nothing after the answer until `goOn` is called. */
  readonly hangs?: boolean
}

/** The answer to a hello. */
export interface FakeWelcome {
  readonly accepted: boolean
  readonly reason: string
  readonly connectionId: string
  readonly secret: Uint8Array
}

/**
 * Plays a router on a control channel: sends its hello, keeps every received frame, answers routes, and sends any other message of the
 * test, true or not. It needs no network.
 */
export class FakeRouter {
  readonly id: string
  /** Every frame in the order of arrival, hello answers aside. */
  readonly received: routerSide.Frame[] = []
  readonly #router: EnrolledRouter
  readonly #listener: ControlListener
  readonly #options: FakeRouterOptions
  readonly #sockets: Duplex[] = []
  readonly #waiting = new Set<() => void>()
  #held: routerSide.Frame[] | undefined
  #sequence = 0

  constructor(router: EnrolledRouter, listener: ControlListener, options: FakeRouterOptions = {}) {
    this.id = router.id
    this.#router = router
    this.#listener = listener
    this.#options = options
  }

  /** Whether the controller closed every socket; also true before the first socket. */
  get isClosed(): boolean {
    return this.#sockets.every(({ destroyed }) => destroyed)
  }

  /** Opens a socket and says hello. */
  async connect(hello: FakeHello = {}): Promise<FakeWelcome> {
    const { connectionId, secret, isFirst = true, type = 'ctrl.default', hangs = false } = hello
    if (hangs) this.#held = []
    const [own, theirs] = duplexPair()
    this.#sockets.push(own)
    // A controller that closes its end closes the connection.
    theirs.once('close', () => own.destroy())
    own.once('end', () => own.destroy())
    own.once('close', () => theirs.destroy())
    const reader = new routerSide.FrameReader({ headers: 1e6, body: 1e9 })
    const welcomed = new Promise<FakeWelcome>((resolve) => {
      let isWelcomed = false
      own.on('data', (bytes: Uint8Array) => {
        for (const frame of reader.push(bytes)) {
          if (isWelcomed && this.#held !== undefined) this.#held.push(frame)
          else if (isWelcomed) this.#take(frame)
          else resolve(welcomeIn(frame))
          isWelcomed = true
        }
      })
      own.once('close', () =>
        resolve({ accepted: false, reason: 'closed', connectionId: '', secret: new Uint8Array() }),
      )
    })
    this.#listener.accept(theirs, this.#router.chain, '127.0.0.1')
    const listeners = (this.#options.linkListeners ?? []).map((address) => ({
      address,
      protocol: 'tls',
      groups: ['default'],
      localBinding: '',
    }))
    this.#write(
      own,
      CONTENT_TYPE.hello,
      [new TextEncoder().encode(this.id)],
      [
        ...(this.#options.saysVersion === false
          ? []
          : [[HEADER.version, routerSide.textBytes('v2.0.0|rev|date|linux|amd64')] as const]),
        [HEADER.helloCapabilities, routerSide.encodeMask([...(this.#options.capabilities ?? [1])])],
        [HEADER.helloListeners, routerSide.Listeners.encode({ listeners })],
        [HEADER.underlayType, routerSide.textBytes(type)],
        [HEADER.isGrouped, routerSide.boolHeader(true)],
        [HEADER.isFirstOfGroup, routerSide.boolHeader(isFirst)],
        ...(connectionId === undefined ? [] : [[HEADER.connectionId, routerSide.textBytes(connectionId)] as const]),
        ...(secret === undefined ? [] : [[HEADER.groupSecret, secret] as const]),
      ],
    )
    return welcomed
  }

  /** Sends a message on the first open socket; answers its sequence. */
  send(contentType: number, body?: Uint8Array, headers: Headers = new Map()): number {
    const socket = this.#sockets.find(({ destroyed }) => !destroyed)
    if (socket === undefined) throw new Error('the fake router is not connected')
    return this.#write(socket, contentType, body === undefined ? [] : [body], [...headers])
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: Uint8Array): void {
    this.#sockets.find(({ destroyed }) => !destroyed)?.write(bytes)
  }

  /** Sends a request and resolves with the frame that answers it. */
  async request(contentType: number, body?: Uint8Array, headers?: Headers): Promise<routerSide.Frame> {
    const sequence = this.send(contentType, body, headers)
    return this.next((frame) => routerSide.readUint32(frame.headers, HEADER.replyFor) === sequence)
  }

  /** The first frame, received or to come, that fulfils a condition. Rejects after ten seconds. */
  async next(fulfils: (frame: routerSide.Frame) => boolean): Promise<routerSide.Frame> {
    const known = this.received.find(fulfils)
    if (known !== undefined) return known
    return new Promise((resolve, reject) => {
      const look = () => {
        const frame = this.received.find(fulfils)
        if (frame === undefined) return
        giveUp()
        this.#waiting.delete(look)
        resolve(frame)
      }
      const tooLong = () => {
        this.#waiting.delete(look)
        reject(new Error(`the fake router ${this.id} waited in vain; it received ${this.#typesReceived()}`))
      }
      const giveUp = runtime.timer(PATIENCE_MS, tooLong, true)
      this.#waiting.add(look)
    })
  }

  /** Frames of one kind that were received so far. */
  all(contentType: number): readonly routerSide.Frame[] {
    return this.received.filter((frame) => frame.contentType === contentType)
  }

  /** Forgets the received frames. */
  forget(): void {
    this.received.length = 0
  }

  /** Stops reading, as a router that hangs does. */
  pause(): void {
    for (const socket of this.#sockets) socket.pause()
  }

  /** Handles the frames that it received since it hung. */
  goOn(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const frame of held) this.#take(frame)
  }

  /** Closes every socket. */
  close(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
  }

  #take(frame: routerSide.Frame): void {
    if (frame.contentType === CONTENT_TYPE.heartbeat) {
      this.#answerHeartbeat(frame)
      return
    }
    if (this.#options.onFrame?.(frame) !== false) this.received.push(frame)
    if (frame.contentType === CONTENT_TYPE.route) void this.#answerRoute(frame)
    for (const look of [...this.#waiting]) look()
  }

  /** A router that is alive says so. */
  #answerHeartbeat({ headers }: routerSide.Frame): void {
    const sent = headers.get(HEADER.heartbeat)
    if (sent === undefined || this.isClosed) return
    this.send(CONTENT_TYPE.heartbeat, undefined, new Map([[HEADER.heartbeatResponse, sent]]))
  }

  async #answerRoute(frame: routerSide.Frame): Promise<void> {
    const route = Route.decode(bodyOf(frame))
    const { onRoute } = this.#options
    const reply: RouteReply = onRoute === undefined ? { success: true } : await onRoute(route)
    if (reply === undefined || this.isClosed) return
    const outcome = reply.success
      ? ([[HEADER.routeSuccess, routerSide.boolHeader(true)], ...(reply.peerData ?? [])] as const)
      : ([
          [HEADER.routeErrorCode, Uint8Array.of(reply.code)],
          [HEADER.routeError, routerSide.textBytes(reply.message)],
        ] as const)
    const headers = new Map<number, Uint8Array>([
      [HEADER.replyFor, routerSide.uint32Header(frame.sequence)],
      [HEADER.routeAttempt, routerSide.uint32Header(route.attempt)],
      ...outcome,
    ])
    this.send(CONTENT_TYPE.routeResult, new TextEncoder().encode(route.circuitId), headers)
  }

  #write(
    socket: Duplex,
    contentType: number,
    body: readonly Uint8Array[],
    headers: readonly (readonly [number, Uint8Array])[],
  ): number {
    const sequence = contentType === CONTENT_TYPE.hello ? -1 : ++this.#sequence
    const frame = { contentType, sequence, headers: new Map(headers), body }
    socket.write(Buffer.concat(routerSide.encodeFrame(frame)))
    return sequence
  }

  #typesReceived(): string {
    return this.received.map(({ contentType }) => contentType).join(' ')
  }
}

/**
 * The body of a frame in one piece.
 *
 * @example
 * const text = new TextDecoder().decode(bodyOf(frame))
 */
export function bodyOf(frame: routerSide.Frame): Uint8Array {
  return Buffer.concat(frame.body)
}

function welcomeIn(frame: routerSide.Frame): FakeWelcome {
  const { headers } = frame
  return {
    accepted: routerSide.readBool(headers, HEADER.success) ?? false,
    reason: new TextDecoder().decode(bodyOf(frame)),
    connectionId: routerSide.readText(headers, HEADER.connectionId) ?? '',
    secret: headers.get(HEADER.groupSecret) ?? new Uint8Array(),
  }
}

/** A router with the certificate that the network gave it. */
export interface EnrolledRouter {
  readonly id: string
  /** The certificates that it shows in a TLS handshake: DER, leaf first. */
  readonly chain: readonly Uint8Array[]
}

type Call = (method: string, path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>

/**
 * Creates an edge router and enrolls it with a key of its own, as its program would. `fields` are those of the request to
 * create it; `token` is an API session of an admin.
 *
 * @example
 * const { id, chain } = await enrollEdgeRouter(controller, token, { name: 'edge-1' })
 */
export async function enrollEdgeRouter(
  controller: Pick<Controller, 'fetch'>,
  token: string,
  fields: { readonly name: string; readonly [field: string]: unknown },
): Promise<EnrolledRouter> {
  const call = callerOf(controller, token)
  const { id } = await call('POST', '/edge/management/v1/edge-routers', fields)
  const { enrollmentToken } = await call('GET', `/edge/management/v1/edge-routers/${id}`)
  const { csr } = await createSigningRequest(String(id))
  const body = { certCsr: csr, serverCertCsr: csr }
  const { cert } = await call('POST', `/edge/client/v1/enroll?method=erott&token=${enrollmentToken}`, body)
  return { id: String(id), chain: certificatesIn(String(cert)) }
}

function callerOf({ fetch }: Pick<Controller, 'fetch'>, token: string): Call {
  return async (method, path, body) => {
    const headers = { 'content-type': 'application/json', 'zt-session': token }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`https://controller.test${path}`, init))
    const answer: { readonly data: Record<string, unknown> } = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer.data
  }
}
