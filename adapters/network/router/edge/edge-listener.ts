import { timingSafeEqual } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { networkOf } from '../../../../src/base/addresses.ts'
import { createFairCapacity } from '../../../../src/concurrency/fair-capacity.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { ROUTER_CAPABILITY, TOLD_TO_ENDPOINTS } from '../../../../src/control-channel.ts'
import { encodeMask } from '../../channel/capability-mask.ts'
import type { Channel } from '../../channel/channel.ts'
import { ChannelGroup } from '../../channel/channel-group.ts'
import { HELLO_SEQUENCE } from '../../channel/channel-numbers.ts'
import { ChannelSocket, type SocketLimits } from '../../channel/channel-socket.ts'
import { EDGE_HEADER, EDGE_TYPE, TRUE } from '../../channel/edge-messages.ts'
import type { Frame, FrameLimits } from '../../channel/frame.ts'
import { boolHeader, readBool, readText, textBytes, uint32Header } from '../../channel/header-values.ts'
import type { EdgeClient } from './endpoint.ts'

/** Bytes that an endpoint may send before it is identified. */
const HELLO_LIMITS: FrameLimits = { headers: 32_768, body: 4096 }
/**
 * A program of the field that writes megabytes at once sends them as one message. Data for an application, up to 64 kB, is a header. Links
 * and control channels take more, so that no message of an endpoint ends them.
 */
const FRAME_LIMITS: FrameLimits = { headers: 131_072, body: 16 * 1024 * 1024 }
/** Bytes beyond which an endpoint that does not read is given up; its senders are slowed down long before. */
const MOST_QUEUED_BYTES = 16 * 1024 * 1024
/** Milliseconds for which an endpoint may leave waiting messages unread. */
const STALL_MS = 60_000
const LIMITS: SocketLimits = {
  frame: FRAME_LIMITS,
  outgoing: { bytes: MOST_QUEUED_BYTES, stallMs: STALL_MS, carriesCircuits: true },
  rate: { perSecond: 100_000, burst: 200_000 },
}
/** Milliseconds within which a socket must send its hello. */
const HELLO_MS = 5000
/** Sockets of unknown peers, from all IP networks and from one. A further socket closes the oldest of the network that has the most. */
const PLACES = { total: 512, perNetwork: 256 }

/** The peer on a socket, as far as TLS identifies it. */
export interface EdgeStranger {
  /** The certificates of the handshake, DER, leaf first. */
  readonly chain: readonly Uint8Array[]
  readonly remoteAddress: string | undefined
  /** Whether it is in the router's own process, where endpoints show no certificate. */
  readonly isOfProcess?: true
}

/** The part of a router that its listener needs. */
export interface EdgeHost {
  readonly routerId: string
  /** In the form that endpoints read: five parts, separated by bars. */
  readonly version: string
  /** Judges a peer that presents a token; a text is the reason for a refusal. */
  admit(token: string, stranger: EdgeStranger): Promise<EdgeClient | string>
  /** Whether endpoints are to report their posture to it. */
  readonly asksPosture: boolean
  /** Whether endpoints may dial without a service session. */
  readonly takesSessionlessDials: boolean
  /** A client is admitted; from now on the router reads its channel. */
  admitted(client: EdgeClient, channel: Channel): void
}

/** Sockets that are one channel. */
interface Group {
  readonly sockets: ChannelGroup
  readonly secret: Uint8Array
  /** The API session of its founder: all of its sockets show this session. */
  readonly sessionId: string
}

/** The type of a socket that is not for data. */
const CONTROL_SOCKET = 'edge.control'
/** Sockets of one channel: those of the field open three. */
const MOST_SOCKETS = 16
const SECRET_BYTES = 16

/** Takes the sockets of endpoints from a TLS server, and admits endpoints. */
export class EdgeListener {
  readonly #host: EdgeHost
  readonly #places = createFairCapacity(PLACES)
  readonly #strangers = new Set<Channel>()
  readonly #groups = new Map<string, Group>()
  /** The ids of groups, by their channels. */
  readonly #groupIds = new Map<Channel, string>()

  constructor(host: EdgeHost) {
    this.#host = host
  }

  /** Takes a socket on which an endpoint is expected. */
  accept(socket: Duplex, stranger: EdgeStranger): void {
    const nobody = { onMessage: () => undefined, onClose: () => undefined }
    const channel = new ChannelSocket(socket, LIMITS, HELLO_LIMITS, nobody)
    this.greet(channel, stranger, () => channel.admit(FRAME_LIMITS, nobody))
  }

  /** Takes a channel whose first message is the hello of an endpoint; `widen` raises its limits after the admission. */
  greet(channel: Channel, stranger: EdgeStranger, widen: () => void = () => undefined): void {
    const place = this.#places.enter(networkOf(stranger.remoteAddress ?? ''), () => channel.destroy())
    const giveUp = runtime.timer(HELLO_MS, () => channel.destroy())
    let isGone = false
    const settle = () => {
      giveUp()
      place.leave()
      this.#strangers.delete(channel)
    }
    const onClose = () => {
      isGone = true
      settle()
    }
    const listener = {
      onMessage: (hello: Frame) => {
        // A peer that sends before it is admitted is no endpoint.
        channel.pause()
        giveUp()
        channel.listen({ onMessage: () => channel.destroy(), onTrouble: () => channel.destroy(), onClose })
        this.#judge(channel, hello, stranger).then(
          (client) => {
            settle()
            if (isGone || client === undefined) return
            widen()
            this.#admit(channel, hello, client)
            channel.resume()
          },
          () => channel.destroy(),
        )
      },
      onTrouble: () => channel.destroy(),
      onClose,
    }
    this.#strangers.add(channel)
    channel.listen(listener)
    place.take(1)
  }

  close(): void {
    for (const channel of this.#strangers) channel.destroy()
  }

  /** The client of a hello; undefined for a refused client. */
  async #judge(channel: Channel, hello: Frame, stranger: EdgeStranger): Promise<EdgeClient | undefined> {
    const token =
      hello.contentType === EDGE_TYPE.hello ? readText(hello.headers, EDGE_HEADER.apiSessionToken) : undefined
    if (hello.contentType !== EDGE_TYPE.hello) channel.destroy()
    const client = token === undefined ? 'a hello without session token' : await this.#host.admit(token, stranger)
    if (typeof client === 'string') {
      refuse(channel, hello, client)
      return undefined
    }
    return client
  }

  /** Admits a client: its socket begins a channel, or joins a channel of the same client. */
  #admit(channel: Channel, hello: Frame, client: EdgeClient): void {
    const { headers } = hello
    const id = readText(headers, EDGE_HEADER.connectionId) || runtime.uuid()
    if (!readBool(headers, EDGE_HEADER.isGrouped)) {
      channel.send(this.#acceptance(hello, id))
      this.#host.admitted(client, channel)
      return
    }
    const lane = readText(headers, EDGE_HEADER.socketType) === CONTROL_SOCKET ? 'control' : 'data'
    const isFirst = readBool(headers, EDGE_HEADER.isFirstOfGroup) ?? false
    const known = this.#groups.get(id)
    if (known === undefined ? !isFirst : !isMember(known, hello, client)) {
      refuse(channel, hello, known === undefined ? 'no such group' : 'incorrect group secret')
      return
    }
    const group = known ?? this.#found(id, hello, client)
    channel.send(this.#acceptance(hello, id, group.secret))
    if (!group.sockets.add(channel, lane)) channel.destroy()
    else if (known === undefined) this.#host.admitted(client, group.sockets)
  }

  #found(id: string, { headers }: Frame, client: EdgeClient): Group {
    const brought = headers.get(EDGE_HEADER.groupSecret)
    const sockets: ChannelGroup = new ChannelGroup(MOST_SOCKETS)
    const group = { sockets, secret: brought ?? runtime.bytes(SECRET_BYTES), sessionId: client.session.id }
    this.#groups.set(id, group)
    this.#groupIds.set(sockets, id)
    return group
  }

  /** A channel is over. */
  forget(channel: Channel): void {
    this.#groups.delete(this.#groupIds.get(channel) ?? '')
    this.#groupIds.delete(channel)
  }

  #acceptance(hello: Frame, id: string, secret?: Uint8Array): Frame {
    const type = hello.headers.get(EDGE_HEADER.socketType)
    const { asksPosture, takesSessionlessDials } = this.#host
    const { postureChecks, sessionlessDials } = ROUTER_CAPABILITY
    const capabilities = TOLD_TO_ENDPOINTS.filter((one) => {
      if (one === postureChecks) return asksPosture
      return one !== sessionlessDials || takesSessionlessDials
    })
    return answerTo(hello, [
      [EDGE_HEADER.connectionId, textBytes(id)],
      [EDGE_HEADER.isAccepted, TRUE],
      [EDGE_HEADER.version, textBytes(this.#host.version)],
      [EDGE_HEADER.routerName, textBytes(this.#host.routerId)],
      [EDGE_HEADER.supportsBindSuccess, TRUE],
      [EDGE_HEADER.routerCapabilities, encodeMask(capabilities)],
      ...(asksPosture ? ([[EDGE_HEADER.supportsPosture, TRUE]] as const) : []),
      ...(secret === undefined
        ? []
        : ([
            [EDGE_HEADER.isGrouped, TRUE],
            [EDGE_HEADER.groupSecret, secret],
          ] as const)),
      ...(secret === undefined || type === undefined ? [] : [[EDGE_HEADER.socketType, type] as const]),
    ])
  }
}

/** A client could name the group of another client. */
function isMember({ secret, sessionId }: Group, { headers }: Frame, client: EdgeClient): boolean {
  const shown = headers.get(EDGE_HEADER.groupSecret) ?? new Uint8Array(0)
  return sessionId === client.session.id && shown.length === secret.length && timingSafeEqual(shown, secret)
}

/** Endpoints log the reason. */
function refuse(channel: Channel, hello: Frame, reason: string): void {
  channel.send(answerTo(hello, [[EDGE_HEADER.isAccepted, boolHeader(false)]], reason))
  channel.close()
}

/** Some endpoints number their hello, and wait for an answer to that number. */
function answerTo({ sequence }: Frame, headers: readonly (readonly [number, Uint8Array])[], text = ''): Frame {
  const replyFor = [EDGE_HEADER.replyFor, uint32Header(sequence >>> 0)] as const
  const body = text === '' ? [] : [textBytes(text)]
  return { contentType: EDGE_TYPE.result, sequence: HELLO_SEQUENCE, headers: new Map([replyFor, ...headers]), body }
}
