import type { ControlPlane } from 'portcullis'
import {
  type FromRouter,
  openControlListener,
  type RouterChannel,
  type RouterGreeting,
  type ToRouter,
} from 'portcullis/fabric'
import { createTestController, type TestController, type TestDevice } from 'portcullis/testing'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { Conversation, type Message, type Timer } from '../../adapters/network/channel/conversation.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readBool, readUint32, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { openOwnRouter, type RunningRouter } from '../../adapters/network/router/index.ts'

const ALL = { semantic: 'AnyOf' } as const

/** A controller with an edge router in its process, a service, and devices that may host and dial it. */
export interface EdgeWorld {
  readonly controller: TestController
  readonly router: RunningRouter
  /** The control plane, for further routers in this process. */
  readonly plane: ControlPlane
  readonly serviceId: string
  readonly policies: { readonly Dial: string; readonly Bind: string }
  /** Enrolls a device that may host, dial, or neither. */
  device(name: string, roles: readonly ('hosts' | 'clients')[]): Promise<TestDevice>
  /** Connects an endpoint of a device with a fresh session. */
  connect(device: TestDevice, options?: ConnectOptions): Promise<PlayedEndpoint>
}

export interface ConnectOptions {
  /** The router of the world unless given. */
  readonly router?: RunningRouter
  readonly token?: string
  readonly chain?: readonly Uint8Array[]
  readonly sequence?: number
}

/**
 * Runs before the controller takes a message of its router: the controller is slow, or away, as long as it does not resolve. What it
 * answers runs before the answer of the controller goes out.
 */
export type Hold = (message: FromRouter) => Promise<undefined | (() => Promise<void>)>

/** Runs before a router takes a message of the controller, which takes all in their order. */
export type HoldTo = (routerId: string, message: ToRouter) => Promise<void>

interface BindOptions {
  readonly headers?: readonly [number, Uint8Array][]
  /** The router gives the ids of connections; else the host does. */
  readonly assigns?: boolean
}

export async function edgeWorld(
  timer?: Timer,
  hold: Hold = async () => undefined,
  holdTo?: HoldTo,
): Promise<EdgeWorld> {
  const controller = await createTestController()
  const listener = await openControlListener(controller, { addresses: ['tls:controller.test:1280'] })
  const plane = heldPlane(listener.plane, hold, holdTo)
  const ways = { plane, advertise: 'controller.test:1280', now: () => controller.clock.now(), ...(timer && { timer }) }
  const router = await openOwnRouter({}, ways)
  const { admin } = controller
  const { data: service } = await admin.call('POST /services', { body: { name: 'wiki', encryptionRequired: false } })
  const policy = async (type: 'Dial' | 'Bind', role: string) => {
    const body = { ...ALL, name: type, type, serviceRoles: ['#all'], identityRoles: [role] }
    return (await admin.call('POST /service-policies', { body })).data.id
  }
  const policies = { Dial: await policy('Dial', '#clients'), Bind: await policy('Bind', '#hosts') }
  const routers = { ...ALL, name: 'all', edgeRouterRoles: ['#all'] }
  await admin.call('POST /edge-router-policies', { body: { ...routers, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { ...routers, serviceRoles: ['#all'] } })
  return {
    controller,
    router,
    plane,
    serviceId: service.id,
    policies,
    device: (name, roles) => controller.enroll(name, { roleAttributes: [...roles] }),
    connect: async (device, { token, chain, sequence = -1, router: at = router } = {}) => {
      const [channel, theirs] = channelPair()
      const shown = chain ?? device.connection.clientCertificates ?? []
      at.greet(theirs, { chain: shown, remoteAddress: '127.0.0.1' })
      const session = token ?? (await tokenOf(device))
      return PlayedEndpoint.open(channel, device, session, sequence)
    },
  }
}

/** The data plane of a controller, as its own router reaches it. */
function heldPlane(plane: ControlPlane, hold: Hold, holdTo?: HoldTo): ControlPlane {
  const connect: ControlPlane['connect'] = async (greeting, socket, channel) => {
    const session = await plane.connect(greeting, socket, holdTo ? heldChannel(greeting, channel, holdTo) : channel)
    if (typeof session === 'string') return session
    return {
      receive: async (message) => {
        const beforeAnswer = await hold(message)
        const answer = await session.receive(message)
        await beforeAnswer?.()
        return answer
      },
      heard: () => session.heard(),
      misbehaved: (what) => session.misbehaved(what),
      closed: () => session.closed(),
    }
  }
  return new Proxy(plane, {
    get: (target, name) => {
      if (name === 'connect') return connect
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function heldChannel({ routerId }: RouterGreeting, channel: RouterChannel, holdTo: HoldTo): RouterChannel {
  let before = Promise.resolve()
  const send = (message: ToRouter) => {
    before = before.then(() => holdTo(routerId, message)).then(() => channel.send(message))
  }
  return { ...channel, send }
}

async function tokenOf(device: TestDevice): Promise<string> {
  return (await device.call('GET /current-api-session')).data.token
}

/** An endpoint that a test plays by messages. */
export class PlayedEndpoint {
  readonly channel: Channel
  readonly device: TestDevice
  /** The answer to its hello. */
  readonly greeting: Frame
  /** Everything that came and was no answer. */
  readonly heard: Frame[] = []
  readonly #conversation: Conversation
  #onMessage: (message: Frame) => void = () => undefined
  isClosed = false

  private constructor(channel: Channel, device: TestDevice, greeting: Frame) {
    this.channel = channel
    this.device = device
    this.greeting = greeting
    this.#conversation = new Conversation(channel, {
      onMessage: (message) => {
        this.heard.push(message)
        this.#onMessage(message)
      },
      onClose: () => {
        this.isClosed = true
      },
    })
  }

  static open(channel: Channel, device: TestDevice, token: string, sequence: number): Promise<PlayedEndpoint> {
    return new Promise((resolve, reject) => {
      channel.listen({
        onMessage: (greeting) => resolve(new PlayedEndpoint(channel, device, greeting)),
        onClose: () => reject(new Error('closed without an answer')),
      })
      const headers = new Map([[EDGE_HEADER.apiSessionToken, textBytes(token)]])
      channel.send({ contentType: EDGE_TYPE.hello, sequence, headers, body: [Buffer.from(device.id)] })
    })
  }

  get isAdmitted(): boolean {
    return readBool(this.greeting.headers, EDGE_HEADER.isAccepted) === true
  }

  onMessage(listener: (message: Frame) => void): void {
    this.#onMessage = listener
  }

  send(message: Message): void {
    this.#conversation.send(message)
  }

  reply(to: Frame, message: Message): void {
    this.#conversation.reply(to, message)
  }

  ask(message: Message): Promise<Frame> {
    return this.#conversation.ask(message, 5000)
  }

  /** Hosts the service under a connection id, until the controller has its terminator or it is refused. */
  async host(connection: number, options: BindOptions = {}): Promise<Frame> {
    const { headers = [] } = options
    const answer = await this.bind(connection, {
      ...options,
      headers: [...headers, [EDGE_HEADER.supportsBindSuccess, TRUE]],
    })
    const types: readonly number[] = [EDGE_TYPE.bindSuccess, EDGE_TYPE.stateClosed]
    const isDecided = ({ contentType, headers: heard }: Frame) =>
      types.includes(contentType) && readUint32(heard, EDGE_HEADER.connection) === connection
    if (answer.contentType === EDGE_TYPE.stateConnected) await until(() => this.heard.some(isDecided))
    return answer
  }

  /** Asks to host the service under a connection id; answers what the router says at once. */
  async bind(connection: number, { headers = [], assigns = true }: BindOptions = {}): Promise<Frame> {
    const { token } = await this.device.bind('wiki')
    const assigned = assigns ? [[EDGE_HEADER.assignedConnection, TRUE] as [number, Uint8Array]] : []
    return this.ask(edgeMessage(EDGE_TYPE.bind, connection, [...assigned, ...headers], Buffer.from(token)))
  }

  /** Dials the service; answers how the router answered. */
  async dial(connection: number, headers: [number, Uint8Array][] = []): Promise<Frame> {
    const { token } = await this.device.dial('wiki')
    return this.ask(edgeMessage(EDGE_TYPE.connect, connection, headers, Buffer.from(token)))
  }

  /** Takes every dial, and hands data that comes to `onData`. */
  serve(onData: (connection: number, body: Uint8Array, flags: number) => void = () => undefined): void {
    let next = 77
    this.onMessage((message) => {
      const connection = readUint32(message.headers, EDGE_HEADER.connection) ?? 0
      if (message.contentType === EDGE_TYPE.dial) {
        const assigned = message.headers.get(EDGE_HEADER.assignedConnection)
        next += 1
        this.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, connection, [], assigned ?? uint32Header(next)))
      } else if (message.contentType === EDGE_TYPE.data) {
        onData(connection, bodyOf(message), readUint32(message.headers, EDGE_HEADER.flags) ?? 0)
      }
    })
  }

  data(connection: number, body: Uint8Array, flags?: number): void {
    const headers = flags === undefined ? [] : ([[EDGE_HEADER.flags, uint32Header(flags)]] as const)
    this.send(edgeMessage(EDGE_TYPE.data, connection, headers, body))
  }
}

/** Waits until something holds, or the test is over. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2))
}
