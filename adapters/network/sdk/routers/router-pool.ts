import { isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { pauseAfter } from '../../../../src/data-plane.ts'
import type { EndpointFacts } from '../../../../src/policy.ts'
import type { Channel } from '../../channel/channel.ts'
import { ChannelSocket } from '../../channel/channel-socket.ts'
import type { Timer } from '../../channel/conversation.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import type { Credentials } from '../identity-file.ts'
import { RouterChannel, type RouterGreeting } from './router-channel.ts'

/** The means by which an identity connects to routers. */
export interface RouterAccess {
  /** Opens a way to a router, by its address. */
  connect(address: string): Promise<Channel>
  /** The greeting of the identity; `mayBeOver` is true if a router has closed a channel since, as it does when a session ends. */
  hello(mayBeOver: boolean): Promise<RouterGreeting>
  readonly timer: Timer
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** The channels of an identity to its routers, opened on demand and shared by all connections and hosted services at a router. */
export class RouterPool {
  readonly #access: RouterAccess
  readonly #channels = new Map<string, RouterChannel[]>()
  readonly #opening = new Map<string, Promise<RouterChannel>>()
  /** The channels of former sessions: their connections go on, and no new connection uses them. */
  readonly #retired = new Set<RouterChannel>()
  /** The access token that replaced an earlier token of the session. */
  #newToken: string | undefined
  /** The facts of this machine that were reported so far, for routers that are connected later. */
  #posture: EndpointFacts | undefined
  #hasLostChannel = false
  /** The number of sessions before the present one. */
  #former = 0
  #isClosed = false

  constructor(access: RouterAccess) {
    this.#access = access
  }

  isConnected(address: string): boolean {
    return this.#channels.has(address)
  }

  /** A channel to a router without a slow reader: an open channel, or a new one. Rejects with a {@link ConnectionFailure}. */
  channelTo(address: string): Promise<RouterChannel> {
    const free = this.#channels.get(address)?.find((channel) => channel.isOpen && !channel.isHeld)
    if (free !== undefined) return Promise.resolve(free)
    const known = this.#opening.get(address)
    if (known !== undefined) return known
    const opening = this.#open(address).finally(() => {
      if (this.#opening.get(address) === opening) this.#opening.delete(address)
    })
    this.#opening.set(address, opening)
    return opening
  }

  /** The identity has another session: routers know the present channels by the former session. */
  retire(): void {
    this.#former += 1
    this.#newToken = undefined
    for (const channel of this.#all()) {
      if (channel.isIdle) channel.close()
      else this.#retired.add(channel)
    }
    this.#channels.clear()
    this.#opening.clear()
  }

  /**
   * Sends all routers the next access token, including routers that are being greeted with the former token. The channel to a router that
   * refuses it is closed; a silent router is asked again.
   */
  updateToken(accessToken: string): void {
    this.#newToken = accessToken
    for (const channel of this.#all()) this.#update(channel, accessToken)
  }

  #update(channel: RouterChannel, accessToken: string, failures = 0): void {
    channel.updateToken(accessToken).catch((error: unknown) => {
      if (!(error instanceof ConnectionFailure) || error.code !== 'TIMED_OUT') return channel.close()
      // The former token stays valid for a while, and the loss of a router is noticed elsewhere.
      this.#access.timer(pauseAfter(failures + 1, runtime.fraction()), () => {
        if (channel.isOpen && this.#newToken === accessToken) this.#update(channel, accessToken, failures + 1)
      })
    })
  }

  /** Reports facts of this machine to every router that judges posture, now or when it is connected. */
  report(facts: EndpointFacts): void {
    const all = [...(this.#posture?.processes ?? []), ...(facts.processes ?? [])]
    const processes = [...new Map(all.map((process) => [process.path, process])).values()]
    const reported = { ...this.#posture, ...facts, isWoken: false, isUnlocked: false }
    this.#posture = processes.length === 0 ? reported : { ...reported, processes }
    for (const channel of this.#all()) channel.report(facts)
  }

  close(): void {
    this.#isClosed = true
    for (const channel of [...this.#all(), ...this.#retired]) channel.close()
  }

  async #open(address: string): Promise<RouterChannel> {
    const mayBeOver = this.#hasLostChannel
    this.#hasLostChannel = false
    const hello = await this.#access.hello(mayBeOver)
    const former = this.#former
    const channel = await this.#access.connect(address)
    // It may close before it is open.
    let known: RouterChannel | undefined
    const onClose = () => known && this.#forget(address, known)
    const opened = await RouterChannel.open(channel, hello, {
      timer: this.#access.timer,
      now: this.#access.now,
      onClose,
    })
    known = opened
    if (this.#isClosed) {
      opened.close()
      throw new ConnectionFailure('CLOSED', 'the identity is closed')
    }
    if (this.#posture !== undefined) opened.report(this.#posture)
    if (former !== this.#former) {
      // The router knows it by a session that was replaced while it was greeted.
      this.#retired.add(opened)
      return opened
    }
    // The token may have been replaced while the router was being greeted with it.
    if (this.#newToken !== undefined && hello.apiSessionToken !== this.#newToken) this.#update(opened, this.#newToken)
    const others = this.#channels.get(address) ?? []
    // An idle channel to the same router is of no more use, because the new channel replaces it.
    for (const idle of others.filter(({ isIdle }) => isIdle)) idle.close()
    this.#channels.set(address, [...others.filter(({ isIdle }) => !isIdle), opened])
    return opened
  }

  #forget(address: string, closed: RouterChannel): void {
    this.#retired.delete(closed)
    const known = this.#channels.get(address) ?? []
    const left = known.filter((channel) => channel !== closed)
    if (left.length < known.length) this.#hasLostChannel = true
    if (left.length === 0) this.#channels.delete(address)
    else this.#channels.set(address, left)
  }

  #all(): readonly RouterChannel[] {
    return [...this.#channels.values()].flat()
  }
}

/** Milliseconds for the connection to a router, its handshake included. */
const CONNECT_MS = 10_000
/** Milliseconds without traffic after which the system probes the router's machine. */
const KEEP_ALIVE_MS = 15_000
/** The most bytes of one message: a peer that sends more is no router. Routers add to the headers of the other end. */
const FRAME_LIMITS = { headers: 1024 * 1024, body: 16 * 1024 * 1024 }
const SOCKET_LIMITS = {
  frame: FRAME_LIMITS,
  // Writers wait long before this: it is reached by ten thousand connections that each have one message under way.
  outgoing: { bytes: 512 * 1024 * 1024, stallMs: 2 ** 31 - 1 },
  rate: { perSecond: 1e9, burst: 1e9 },
}

/** Opens the TLS connection to a router, `tls://HOST:PORT`. Rejects with a {@link ConnectionFailure} `ROUTER_UNREACHABLE`. */
export function connectToRouter(address: string, { cert, key, ca }: Credentials): Promise<Channel> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const failed = (cause: unknown) => {
    const told = cause instanceof Error ? cause.message : String(cause)
    return new ConnectionFailure('ROUTER_UNREACHABLE', `the router at ${address} cannot be reached: ${told}`, { cause })
  }
  if (url === undefined || url.protocol !== 'tls:') return Promise.reject(failed('it is no address of TLS'))
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      ...{ host, port: Number(url.port), cert, key, ALPNProtocols: ['ziti-edge'] },
      ...(ca !== undefined && { ca }),
      ...(isIP(host) === 0 && { servername: host }),
    })
    const giveUp = runtime.timer(CONNECT_MS, () => socket.destroy(new Error(`no answer within ${CONNECT_MS} ms`)), true)
    const fail = (error: unknown) => {
      giveUp()
      reject(failed(error))
    }
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      giveUp()
      socket.off('error', fail)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      resolve(
        new ChannelSocket(socket, SOCKET_LIMITS, FRAME_LIMITS, {
          onMessage: () => undefined,
          onClose: () => undefined,
        }),
      )
    })
  })
}
