import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { networkOf } from '../../../../src/base/addresses.ts'
import { createFairCapacity } from '../../../../src/concurrency/fair-capacity.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter, LinkReport, PeerChange } from '../../../../src/control-channel.ts'
import { DEAD_LATENCY_NS, DUPLICATE_CLOSES_MS, duplicateOutcome, linkKey } from '../../../../src/data-plane.ts'
import { firstFrame, type OpenedSocket } from '../state/opened-socket.ts'
import { ToldSeldom } from '../state/told-seldom.ts'
import { LINK_LIMITS, LinkDialer, type LinksSettings } from './link-dialer.ts'
import { isSecretOf, LINK_SOCKET, linkAcceptance, linkRejection, readLinkHello } from './link-hello.ts'
import { type LinkFacts, RouterLink } from './router-link.ts'

/** A socket of a peer after the TLS handshake. */
export interface AcceptedSocket {
  readonly stream: Duplex
  /** The certificates that it showed, DER, leaf first; all of them lead to the authorities of the network. */
  readonly chain: readonly Uint8Array[]
  readonly localAddress: string
  readonly remoteAddress: string
  /** The remote address without a port. */
  readonly remoteHost: string
}

/** A link that further sockets may join. */
interface Group {
  readonly link: RouterLink
  readonly secret: Uint8Array
}

/** The most links of one peer: one for each pair of bindings. A peer that opens more has invented bindings. */
const MOST_LINKS_OF_PEER = 32
const MOST_LINKS = 4096
/** Sockets before their hello, from all IP networks and from one. */
const PLACES = { total: 512, perNetwork: 256 }
const VERIFY_MS = 10_000

/** The links of a router: accepts them, dials them, keeps one link of each key, and reports them to controllers. */
export class Links {
  readonly #settings: LinksSettings
  readonly #links = new Map<string, RouterLink>()
  /** The link of each key that stays; a duplicate that is about to close may still be among all links. */
  readonly #byKey = new Map<string, RouterLink>()
  readonly #groups = new Map<string, Group>()
  readonly #rejected = new Map<string, number>()
  readonly #detach = new Map<RouterLink, () => void>()
  readonly #places = createFairCapacity(PLACES)
  readonly #dialer: LinkDialer
  readonly #told = new ToldSeldom()
  #isClosed = false

  constructor(settings: LinksSettings) {
    this.#settings = settings
    this.#dialer = new LinkDialer(settings, {
      isHeld: (key) => this.#byKey.get(key)?.isOpen === true,
      opened: (facts, socket) => {
        const link = this.#linkOf(facts)
        link.attach(socket)
        if (!this.#isClosed && this.#register(link)) return link
        link.close()
        return undefined
      },
    })
  }

  /** The links that are open. */
  get all(): readonly RouterLink[] {
    return [...this.#links.values()]
  }

  /** Every link that this router dialed, as it is reported to controllers when they are connected. */
  report(): FromRouter {
    const links = this.all.filter(({ facts }) => facts.isDialed).map(reportOf)
    return { type: 'router-links', links, fullRefresh: true }
  }

  /** A controller reports other routers: links to removed routers close, all other routers are dialed. */
  peersChanged(changes: readonly PeerChange[]): void {
    const gone = new Set(this.#dialer.peersChanged(changes))
    for (const link of this.all.filter(({ facts }) => gone.has(facts.peerId))) link.close()
  }

  /** A controller wants a link closed; a link that has been dialed again since stays. */
  faulted(linkId: string, iteration: number): void {
    const link = this.#links.get(linkId)
    if (link !== undefined && (iteration === 0 || iteration >= link.facts.iteration)) link.close()
  }

  /** Takes a socket of the protocol of links. It has 5 s for its first message, and is refused where no controller knows its router. */
  async accept(accepted: AcceptedSocket): Promise<void> {
    const place = this.#places.enter(networkOf(accepted.remoteHost), () => accepted.stream.destroy())
    place.take(1)
    accepted.stream.on('error', () => undefined)
    const refused = (reason: string) =>
      this.#settings.log?.('link.refused', { reason, remoteAddress: accepted.remoteAddress })
    let opened: OpenedSocket | undefined
    try {
      opened = await firstFrame(accepted.stream, LINK_LIMITS)
      const reason = await this.#greet(opened, accepted)
      if (reason === undefined) return
      refused(reason)
      opened.socket.send(linkRejection(reason))
      opened.socket.close()
    } catch (error) {
      // A peer that says nothing is no news.
      if (opened !== undefined) refused(String(error))
      accepted.stream.destroy()
    } finally {
      place.leave()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#dialer.close()
    for (const link of this.all) link.close()
  }

  /** Admits a socket, or answers the reason for a refusal. */
  async #greet({ socket, frame }: OpenedSocket, accepted: AcceptedSocket): Promise<string | undefined> {
    const { routerId: own, listeners } = this.#settings
    const hello = readLinkHello(frame)
    if (typeof hello === 'string') return hello
    if (hello.routerId === own) return 'a router has no link to itself'
    if (hello.meantRouterId !== '' && hello.meantRouterId !== own) return 'another router is meant'
    const [leaf] = accepted.chain
    if (leaf === undefined) return 'no certificate was shown'
    const fingerprint = createHash('sha1').update(leaf).digest('hex')
    if (!(await this.#isKnown(hello.routerId, fingerprint))) return 'the router is not known by this certificate'
    if (this.#isClosed) return 'the router is closing'
    const ends = { channel: socket, localAddress: accepted.localAddress, remoteAddress: accepted.remoteAddress }
    const group = hello.isGrouped ? this.#groups.get(hello.connectionId) : undefined
    // Some routers mark every socket as the first: the secret decides instead.
    if (group !== undefined) {
      const { peerId, id } = group.link.facts
      const isMember = peerId === hello.routerId && id === hello.linkId && isSecretOf(group.secret, hello.secret)
      if (!isMember) return 'no such group'
      socket.send(linkAcceptance(hello, own, group.secret))
      if (!group.link.attach({ ...ends, type: hello.socketType })) return 'the link has enough sockets'
      socket.resume()
      return undefined
    }
    if (hello.isGrouped && !hello.isFirst) return 'no such group'
    const held = this.#links.get(hello.linkId)
    if (held !== undefined && held.facts.peerId !== hello.routerId) return 'the link belongs to another router'
    const ofPeer = this.all.filter(({ facts }) => facts.peerId === hello.routerId).length
    if (this.#links.size >= MOST_LINKS || ofPeer >= MOST_LINKS_OF_PEER) return 'too many links'
    const place = { ownBinding: listeners[0]?.localBinding ?? '', protocol: 'tls', peerId: hello.routerId }
    const key = linkKey({ ...place, peerBinding: hello.binding })
    const { linkId: id, routerId: peerId, iteration } = hello
    const link = this.#linkOf({ id, peerId, iteration, isDialed: false, key, dialAddress: '' })
    const secret = hello.isGrouped ? (hello.secret ?? runtime.bytes(16)) : undefined
    if (secret !== undefined) this.#groups.set(hello.connectionId, { link, secret })
    socket.send(linkAcceptance(hello, own, secret))
    link.attach({ ...ends, type: secret === undefined ? LINK_SOCKET.data : hello.socketType })
    this.#register(link)
    socket.resume()
    return undefined
  }

  async #isKnown(routerId: string, fingerprint: string): Promise<boolean> {
    const { verify, clock } = this.#settings
    return new Promise((resolve) => {
      const cancel = clock.timer(VERIFY_MS, () => resolve(false))
      verify(routerId, fingerprint).then(
        (isKnown) => {
          cancel()
          resolve(isKnown)
        },
        () => {
          cancel()
          resolve(false)
        },
      )
    })
  }

  #linkOf(facts: LinkFacts): RouterLink {
    const { clock, forwarder, tell, log } = this.#settings
    return new RouterLink(facts, clock, {
      received: (link, frame) => forwarder.arrived(link.facts.id, frame),
      measured: (link, nanoseconds) => {
        const means = new Map([[`link.${link.facts.id}.latency`, nanoseconds ?? DEAD_LATENCY_NS]])
        tell({ type: 'metrics', nanoseconds: means, usage: [] })
      },
      changed: (link) => {
        if (!link.facts.isDialed || this.#links.get(link.facts.id) !== link) return
        const { id: linkId, iteration, connections, stateIteration } = reportOf(link)
        tell({ type: 'link-state', linkId, iteration, stateIteration, connections })
      },
      troubled: ({ facts: { peerId } }, what) => {
        if (this.#told.isDue(peerId, what, clock.now())) log?.('link.misbehaved', { peerId, what })
      },
      over: (link) => this.#over(link),
    })
  }

  /** Registers a link; answers false if another link of its key stays instead. */
  #register(link: RouterLink): boolean {
    const { id, key, isDialed } = link.facts
    const held = this.#byKey.get(key)
    const rejected = this.#rejected.get(key) ?? 0
    const outcome = held?.isOpen === true ? duplicateOutcome(held.facts, link.facts, rejected) : 'held-goes'
    if (outcome === 'new-goes') {
      this.#rejected.set(key, rejected + 1)
      return false
    }
    if (held?.isOpen === true && outcome === 'held-goes' && held.facts.id !== id) {
      const { id: goes, iteration } = held.facts
      this.#settings.tell({ type: 'fault', subject: 'duplicate-link', id: goes, iteration })
      this.#settings.clock.timer(DUPLICATE_CLOSES_MS, () => held.close())
    }
    this.#rejected.delete(key)
    this.#links.get(id)?.close()
    this.#links.set(id, link)
    if (outcome === 'held-goes') this.#byKey.set(key, link)
    const { forwarder, traces } = this.#settings
    const undo = [forwarder.attach(id, link), traces.add(link)]
    this.#detach.set(link, () => {
      for (const work of undo) work()
    })
    this.#settings.log?.('link.open', { id, peerId: link.facts.peerId, isDialed })
    if (isDialed) this.#settings.tell({ type: 'router-links', links: [reportOf(link)], fullRefresh: false })
    return true
  }

  #over(link: RouterLink): void {
    const { id, key, peerId, iteration } = link.facts
    this.#detach.get(link)?.()
    this.#detach.delete(link)
    for (const [connectionId, group] of this.#groups) {
      if (group.link === link) this.#groups.delete(connectionId)
    }
    const wasHeld = this.#links.get(id) === link
    if (wasHeld) this.#links.delete(id)
    if (this.#byKey.get(key) === link) {
      const other = this.all.find(({ isOpen, facts }) => isOpen && facts.key === key)
      if (other === undefined) this.#byKey.delete(key)
      else this.#byKey.set(key, other)
    }
    if (!wasHeld) return
    this.#settings.log?.('link.closed', { id, peerId })
    // Both ends report the loss, because the other end may be gone without a message; the iteration identifies the link.
    this.#settings.tell({ type: 'fault', subject: 'link', id, iteration })
    this.#dialer.dial(peerId)
  }
}

function reportOf({ facts, sockets, changes }: RouterLink): LinkReport {
  const connections = sockets.map(({ type, localAddress: source, remoteAddress: target }) => ({ type, source, target }))
  const { id, peerId: target, dialAddress, iteration } = facts
  return { id, target, protocol: 'tls', dialAddress, iteration, stateIteration: changes, connections }
}
