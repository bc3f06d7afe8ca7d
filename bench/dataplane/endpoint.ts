import type { Channel } from '../../adapters/network/channel/channel.ts'
import { Conversation } from '../../adapters/network/channel/conversation.ts'
import {
  bodyOf,
  EDGE_HEADER,
  EDGE_TYPE,
  edgeMessage,
  TRUE,
  textIn,
} from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readBool, readUint32, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { connectToRouter } from '../../adapters/network/sdk/routers/router-pool.ts'
import type { CarriedStream } from './carried-stream.ts'

/** Who an endpoint is, and by which session. */
export interface EndpointIdentity {
  readonly id: string
  readonly apiSessionToken: string
  readonly credentials: { readonly cert: string; readonly key: string; readonly ca: string }
}

/** Bytes that wait for a router before an endpoint stops sending. */
const ROOM_BYTES = 262_144
const PATIENCE_MS = 60_000

/** An endpoint that leaves order and windows to its router, and does as little as it can beside. */
export class Endpoint {
  readonly #channel: Channel
  readonly #conversation: Conversation
  readonly #streams = new Map<number, CarriedStream>()
  #waiting: (() => void)[] = []
  #lastId = 0
  #take: (stream: CarriedStream) => void = () => undefined

  private constructor(channel: Channel) {
    this.#channel = channel
    this.#conversation = new Conversation(channel, {
      onMessage: (message) => this.#received(message),
      onDrain: () => this.#drained(),
      onClose: () => this.#drained(),
    })
  }

  static async open(address: string, { id, apiSessionToken, credentials }: EndpointIdentity): Promise<Endpoint> {
    const endpoint = new Endpoint(await connectToRouter(address, credentials))
    const headers = new Map([[EDGE_HEADER.apiSessionToken, textBytes(apiSessionToken)]])
    const hello = { contentType: EDGE_TYPE.hello, headers, body: [textBytes(id)] }
    const answer = await endpoint.#conversation.ask(hello, PATIENCE_MS)
    if (readBool(answer.headers, EDGE_HEADER.isAccepted) !== true) throw new Error(`not let in: ${textIn(answer)}`)
    return endpoint
  }

  /** Hosts by a service session. */
  async host(sessionToken: string, take: (stream: CarriedStream) => void): Promise<void> {
    this.#take = take
    const headers = [[EDGE_HEADER.assignedConnection, TRUE]] as const
    await this.#connected(edgeMessage(EDGE_TYPE.bind, this.#nextId(), headers, textBytes(sessionToken)))
  }

  /** Dials by a service session. */
  async dial(sessionToken: string): Promise<CarriedStream> {
    const id = this.#nextId()
    const stream = this.#streamOf(id)
    await this.#connected(edgeMessage(EDGE_TYPE.connect, id, [], textBytes(sessionToken)))
    return stream
  }

  close(): void {
    this.#channel.destroy()
  }

  async #connected(request: Parameters<Conversation['ask']>[0]): Promise<void> {
    const answer = await this.#conversation.ask(request, PATIENCE_MS)
    if (answer.contentType !== EDGE_TYPE.stateConnected) throw new Error(`refused: ${textIn(answer)}`)
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #streamOf(id: number): CarriedStream {
    const stream: CarriedStream = {
      onBytes: () => undefined,
      send: (bytes) => {
        this.#conversation.send(edgeMessage(EDGE_TYPE.data, id, [], bytes))
        return this.#channel.queuedBytes < ROOM_BYTES
      },
      whenRoom: (work) => void this.#waiting.push(work),
      close: () => {
        this.#streams.delete(id)
        this.#conversation.send(edgeMessage(EDGE_TYPE.stateClosed, id))
      },
    }
    this.#streams.set(id, stream)
    return stream
  }

  #received(message: Frame): void {
    const id = readUint32(message.headers, EDGE_HEADER.connection) ?? 0
    if (message.contentType === EDGE_TYPE.data) this.#streams.get(id)?.onBytes(bodyOf(message))
    else if (message.contentType === EDGE_TYPE.stateClosed) this.#streams.delete(id)
    else if (message.contentType === EDGE_TYPE.dial) {
      const assigned = readUint32(message.headers, EDGE_HEADER.assignedConnection) ?? 0
      this.#take(this.#streamOf(assigned))
      this.#conversation.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, id, [], uint32Header(assigned)))
    }
  }

  #drained(): void {
    for (const work of this.#waiting.splice(0)) work()
  }
}
