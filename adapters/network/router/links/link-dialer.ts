import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter, LinkListener as ListenerFacts, PeerChange } from '../../../../src/control-channel.ts'
import { groupsMeet, linkKey, peerFirstMs, redialDelayMs } from '../../../../src/data-plane.ts'
import type { SocketLimits } from '../../channel/channel-socket.ts'
import type { Forwarder } from '../forwarder.ts'
import type { ChannelTraces } from '../state/channel-traces.ts'
import { dialSocket, type OpensStream, type RouterCredentials } from '../state/opened-socket.ts'
import { LINK_PROTOCOL, LINK_SOCKET, type LinkHello, readLinkAnswer, writeLinkHello } from './link-hello.ts'
import type { LinkClock, LinkFacts, LinkSocket, RouterLink } from './router-link.ts'

/** The settings and surroundings of a router's links. */
export interface LinksSettings {
  readonly routerId: string
  /** The present credentials: they change at a renewal. */
  readonly credentials: () => RouterCredentials
  /** The addresses at which this router accepts links, as it reports them to its controllers. */
  readonly listeners: readonly ListenerFacts[]
  /** Groups of listeners that it dials; `default` unless given. Empty for a router that only accepts. */
  readonly dialGroups?: readonly string[]
  readonly forwarder: Forwarder
  readonly traces: ChannelTraces
  readonly clock: LinkClock
  /** A fraction from 0 up to 1. */
  readonly random: () => number
  /** Sends a message to all controllers. */
  readonly tell: (message: FromRouter) => void
  /** Whether a controller knows a router by the SHA-1 of its certificate, lower-case hexadecimal digits. */
  readonly verify: (routerId: string, fingerprint: string) => Promise<boolean>
  /** Opens the sockets of links that this router dials. Default: TLS. */
  readonly openStream?: OpensStream
  /** Logs an event for its operator. */
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** A peer as controllers describe it. */
interface Peer {
  readonly version: string
  readonly isHealthy: boolean
  readonly listeners: readonly ListenerFacts[]
}

/** The attempts to link with one listener of a peer. */
interface DialEntry {
  readonly peerId: string
  readonly linkId: string
  iteration: number
  failures: number
  isDialing: boolean
  cancel: () => void
}

/** The links that a dialer adds to. */
interface HeldLinks {
  /** Whether a link of a key is open. */
  isHeld(key: string): boolean
  /** Takes a link whose first socket is open; undefined where another link of its key stays. */
  opened(facts: LinkFacts, socket: LinkSocket): RouterLink | undefined
}

/** The cost of a socket of a link. */
export const LINK_LIMITS: SocketLimits = {
  // The largest message of an endpoint, with room for the additions of routers.
  frame: { headers: 262_144, body: 16 * 1024 * 1024 },
  // A fast sender is slowed by its windows; a circuit of small messages has many.
  rate: { perSecond: 10_000_000, burst: 10_000_000 },
  outgoing: { bytes: 67_108_864, stallMs: 15_000, carriesCircuits: true },
}

/** Dials the routers that controllers name, again and again until there is a link. */
export class LinkDialer {
  readonly #settings: LinksSettings
  readonly #links: HeldLinks
  readonly #peers = new Map<string, Peer>()
  readonly #dials = new Map<string, DialEntry>()
  #isClosed = false

  constructor(settings: LinksSettings, links: HeldLinks) {
    this.#settings = settings
    this.#links = links
  }

  /** Takes changes of other routers; answers the ids of removed routers. */
  peersChanged(changes: readonly PeerChange[]): readonly string[] {
    const others = changes.filter(({ id }) => id !== this.#settings.routerId)
    for (const { id, version, state, listeners } of others) {
      if (state === 'removed') this.#forget(id)
      else {
        const isHealthy = state === 'healthy'
        const before = this.#peers.get(id)
        // A peer that is away reports neither listeners nor version: it is dialed at its last addresses.
        const known = isHealthy ? listeners : (before?.listeners ?? [])
        this.#peers.set(id, { version: version || (before?.version ?? ''), isHealthy, listeners: known })
        // Earlier failures do not count for a peer that is back or has moved.
        if (isHealthy && (before?.isHealthy !== true || !isSamePlace(before.listeners, known))) this.#beginAnew(id)
        this.dial(id)
      }
    }
    return others.filter(({ state }) => state === 'removed').map(({ id }) => id)
  }

  /** Dials each listener of a peer without a link to it, but never a listener that the peer has withdrawn. */
  dial(peerId: string): void {
    const peer = this.#peers.get(peerId)
    const { routerId, listeners, clock, random } = this.#settings
    if (peer === undefined || this.#isClosed) return
    const meeting = this.#meeting(peerId)
    const firstMs = peerFirstMs({ routerId, isListening: listeners.length > 0 }, { id: peerId, version: peer.version })
    this.#drop(peerId, meeting)
    for (const key of meeting.keys()) {
      const entry = this.#dials.get(key) ?? newDial(peerId)
      this.#dials.set(key, entry)
      if (this.#links.isHeld(key) || entry.isDialing) continue
      entry.cancel()
      // After a loss as at the beginning: both routers hear of it at once.
      const delayMs = entry.failures === 0 ? firstMs : redialDelayMs(entry.failures, peer.isHealthy, random())
      entry.cancel = clock.timer(delayMs, () => void this.#dial(key, peerId))
    }
  }

  /** The listeners of a peer in groups that this router dials, by the keys of their links. */
  #meeting(peerId: string): ReadonlyMap<string, ListenerFacts> {
    const { dialGroups = ['default'], listeners } = this.#settings
    const ownBinding = listeners[0]?.localBinding ?? ''
    const told = this.#peers.get(peerId)?.listeners ?? []
    const met = told.filter(({ protocol, groups }) => protocol === 'tls' && groupsMeet(dialGroups, groups))
    return new Map(
      met.map((listener) => {
        const { protocol, localBinding: peerBinding } = listener
        return [linkKey({ ownBinding, protocol, peerId, peerBinding }), listener]
      }),
    )
  }

  close(): void {
    this.#isClosed = true
    for (const { cancel } of this.#dials.values()) cancel()
    this.#dials.clear()
  }

  #beginAnew(peerId: string): void {
    for (const entry of this.#dials.values()) if (entry.peerId === peerId) entry.failures = 0
  }

  #forget(peerId: string): void {
    this.#peers.delete(peerId)
    this.#drop(peerId, new Map())
  }

  /** Gives up the attempts to link with a peer, except for some keys. */
  #drop(peerId: string, kept: ReadonlyMap<string, unknown>): void {
    for (const [key, entry] of this.#dials) {
      if (entry.peerId !== peerId || kept.has(key)) continue
      entry.cancel()
      this.#dials.delete(key)
    }
  }

  async #dial(key: string, peerId: string): Promise<void> {
    const entry = this.#dials.get(key)
    const peer = this.#peers.get(peerId)
    const listener = this.#meeting(peerId).get(key)
    if (entry === undefined || peer === undefined || listener === undefined) return
    if (entry.isDialing || this.#links.isHeld(key) || this.#isClosed) return
    entry.isDialing = true
    entry.iteration += 1
    const { routerId, listeners, log } = this.#settings
    const hello: LinkHello = {
      linkId: entry.linkId,
      connectionId: runtime.uuid(),
      routerId,
      peerVersion: peer.version,
      binding: listeners[0]?.localBinding ?? '',
      iteration: entry.iteration,
      meantRouterId: peerId,
      isGrouped: true,
      isFirst: true,
      socketType: LINK_SOCKET.data,
      secret: undefined,
    }
    try {
      const { socket, answer } = await this.#open(listener.address, hello, peerId)
      const facts = { id: entry.linkId, peerId, iteration: entry.iteration, isDialed: true, key }
      entry.failures = 0
      const isWanted = !this.#isClosed && this.#dials.get(key) === entry
      const link = isWanted ? this.#links.opened({ ...facts, dialAddress: listener.address }, socket) : undefined
      if (!isWanted) socket.channel.destroy()
      socket.channel.resume()
      const { secret } = answer
      if (link !== undefined && secret !== undefined) void this.#openMore(link, listener.address, { ...hello, secret })
    } catch (error) {
      entry.failures += 1
      log?.('link.dial-failed', { peerId, address: listener.address, error: String(error) })
    }
    entry.isDialing = false
    if (!this.#links.isHeld(key)) this.dial(peerId)
  }

  /** One more socket, so that acknowledgements do not wait behind payloads. A link works without it. */
  async #openMore(link: RouterLink, address: string, hello: LinkHello): Promise<void> {
    const more: LinkHello = { ...hello, isFirst: false, socketType: LINK_SOCKET.acknowledgements }
    try {
      const { socket } = await this.#open(address, more, link.facts.peerId)
      if (!link.attach(socket)) socket.channel.destroy()
      socket.channel.resume()
    } catch (error) {
      this.#settings.log?.('link.dial-failed', { peerId: link.facts.peerId, address, error: String(error) })
    }
  }

  async #open(address: string, hello: LinkHello, peerId: string) {
    const credentials = this.#settings.credentials()
    const dial = { address, alpn: LINK_PROTOCOL, credentials, limits: LINK_LIMITS, hello: writeLinkHello(hello) }
    const { socket: channel, frame, stream } = await dialSocket(dial, this.#settings.openStream)
    try {
      const answer = readLinkAnswer(frame)
      // The controller names the router at this address, and the certificate proves that the peer has this address.
      if (answer.routerId !== peerId) throw new Error('another router answered')
      const localAddress = `tcp:${stream.localAddress}:${stream.localPort}`
      const remoteAddress = `tcp:${stream.remoteAddress}:${stream.remotePort}`
      const type = answer.secret === undefined ? 'single' : hello.socketType
      return {
        socket: { channel, type: type === 'single' ? LINK_SOCKET.data : type, localAddress, remoteAddress },
        answer,
      }
    } catch (error) {
      channel.destroy()
      throw error
    }
  }
}

function isSamePlace(left: readonly ListenerFacts[], right: readonly ListenerFacts[]): boolean {
  return left.map(({ address }) => address).join() === right.map(({ address }) => address).join()
}

function newDial(peerId: string): DialEntry {
  const linkId = runtime.uuid().replaceAll('-', '').slice(0, 22)
  return { peerId, linkId, iteration: 0, failures: 0, isDialing: false, cancel: () => undefined }
}
