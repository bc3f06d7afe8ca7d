import type { EngineContext, LinkChange } from '../../context/context.ts'
import type {
  FromRouter,
  HeldRouter,
  ProcessChannel,
  ProcessSession,
  ToHolder,
  ToRouter,
} from '../../facts/fabric/messages/index.ts'
import { type Link, UNKNOWN_LATENCY_MS } from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'
import type { Network } from '../channels/network.ts'
import type { CircuitEnds } from '../circuits/circuit-end.ts'
import type { DialTraces, FollowedDial } from '../circuits/dial-traces.ts'
import type { OpenCircuits } from '../circuits/open-circuits.ts'
import type { RouteExchange } from '../circuits/route-exchange.ts'
import type { CircuitOwners, UsingProcess } from './circuit-owners.ts'
import { tellUnread } from './unread-messages.ts'

interface Parts {
  readonly context: EngineContext
  readonly routers: ConnectedRouters
  readonly network: Network
  readonly circuits: OpenCircuits
  readonly exchange: RouteExchange
  readonly ends: CircuitEnds
  readonly owners: CircuitOwners
  readonly traces: DialTraces
  /** Takes a link out of use, or changes what it costs; false for an unknown link. */
  readonly changeLink: (linkId: string, change: LinkChange) => boolean
}

/** The messages that another process may send to routers of this process: about circuits and links, and questions. */
const PASSED_ON: ReadonlySet<ToRouter['type']> = new Set([
  'route',
  'unroute',
  'link-fault',
  'inspect',
  'peers',
  'trace-channels',
])
/** The most circuits of one message. */
const CIRCUITS_AT_ONCE = 500
const NANOSECONDS = 1_000_000
/** Milliseconds within which a lost process connects again; later it counts as gone. */
const RETURN_MS = 30_000

class Using implements UsingProcess {
  readonly channel: ProcessChannel
  readonly address: string
  /** The routers whose messages it wants. */
  readonly follows = new Set<string>()
  /** The dials that it waits for, by the number of the question. */
  readonly dials = new Map<number, FollowedDial>()
  isOpen = true

  constructor(channel: ProcessChannel, address: string) {
    this.channel = channel
    this.address = address
  }
}

/**
 * Lets other processes over the same store use the routers that hold a channel to this process. A process learns which routers there are and
 * gets their reports about links and about its own circuits. Messages from it to these routers are passed on.
 */
export class Relays {
  readonly #parts: Parts
  readonly #processes = new Set<Using>()
  /**
   * The addresses of the other processes, undefined while they are unknown. While one of them is not connected, an unclaimed circuit may be
   * its own.
   */
  #others: readonly string[] | undefined = []
  /** The instant (epoch ms) until which an unclaimed circuit may belong to a process that is about to connect. */
  #unsureUntil: number

  constructor(parts: Parts) {
    this.#parts = parts
    this.#unsureUntil = parts.context.clock.now() + RETURN_MS
  }

  /** Another process, which proved itself, begins to use the routers of this process. */
  open(channel: ProcessChannel, address: string): ProcessSession {
    const process = new Using(channel, address)
    this.#processes.add(process)
    channel.send({ type: 'routers', isFull: true, held: this.#parts.routers.allHeld().map(heldRouter), gone: [] })
    return {
      received: (message) => void this.#received(process, message),
      closed: (failure) => {
        tellUnread(this.#parts.context, address, failure)
        process.isOpen = false
        this.#unsureUntil = this.#parts.context.clock.now() + RETURN_MS
        for (const dial of process.dials.values()) dial.end()
        this.#processes.delete(process)
        this.#parts.owners.gone(process)
      },
    }
  }

  /** Sets the known addresses of the other processes over the store. */
  expect(others: readonly string[] | undefined): void {
    this.#others = others
  }

  close(): void {
    for (const { channel } of this.#processes) channel.close()
  }

  /** A router opened its channel, or facts about it changed. */
  changed(router: ConnectedRouter): void {
    if (this.#parts.routers.held(router.id) !== router) return
    for (const { channel } of this.#processes) {
      channel.send({ type: 'routers', isFull: false, held: [heldRouter(router)], gone: [] })
    }
  }

  /** A router has no channel to this process any more. */
  gone(routerId: string): void {
    for (const { channel, follows } of this.#processes) {
      follows.delete(routerId)
      channel.send({ type: 'routers', isFull: false, held: [], gone: [routerId] })
    }
  }

  /** Passes a message of a router on to the processes that it concerns; answers the part for this process. */
  passOn(router: ConnectedRouter, message: FromRouter): FromRouter | undefined {
    const isAlone = this.#processes.size === 0 && this.#others?.length === 0
    if (isAlone || this.#parts.routers.held(router.id) !== router) return message
    switch (message.type) {
      case 'metrics':
      case 'link-state':
      case 'router-links':
      case 'inspected':
      case 'traces-set':
      case 'channel-trace':
        this.#toFollowers(router.id, message)
        return message
      case 'route-result':
        return this.#toOwner(router.id, message.circuitId, message) ? undefined : message
      case 'circuit-confirmation':
        return this.#confirmation(router.id, message)
      case 'fault':
        return this.#fault(router.id, message)
      default:
        return message
    }
  }

  /** A circuit that another process laid over routers of this one. */
  isOfOther(circuitId: string): boolean {
    return this.#parts.owners.ownerOf(circuitId) !== undefined
  }

  #fault(routerId: string, fault: Extract<FromRouter, { type: 'fault' }>): FromRouter | undefined {
    const { subject, id } = fault
    if (subject === 'link' || subject === 'duplicate-link') {
      this.#toFollowers(routerId, fault)
      return fault
    }
    const circuitIds = id.split(' ')
    const own = circuitIds.filter((circuitId) => this.#isOwn(routerId, circuitId))
    const others = circuitIds.filter((circuitId) => !this.#isOwn(routerId, circuitId))
    if (others.length > 0) {
      void this.#sortOut(routerId, others, {
        ofOthers: (ids) => ({ ...fault, id: ids.join(' ') }),
        // A router without a path for an unclaimed circuit must forget it; a router whose end is over has already done so.
        forgets: subject === 'forward',
      })
    }
    return own.length === 0 ? undefined : { ...fault, id: own.join(' ') }
  }

  #confirmation(
    routerId: string,
    confirmation: Extract<FromRouter, { type: 'circuit-confirmation' }>,
  ): FromRouter | undefined {
    const { circuitIds } = confirmation
    const own = circuitIds.filter((id) => this.#isOwn(routerId, id))
    const others = circuitIds.filter((id) => !this.#isOwn(routerId, id))
    if (others.length > 0) {
      void this.#sortOut(routerId, others, {
        ofOthers: (ids) => ({ ...confirmation, circuitIds: ids }),
        forgets: true,
      })
    }
    return own.length === 0 ? undefined : { ...confirmation, circuitIds: own }
  }

  /** Passes on messages about circuits of other processes; the router forgets unclaimed circuits. */
  async #sortOut(
    routerId: string,
    circuitIds: readonly string[],
    { ofOthers, forgets }: { readonly ofOthers: (ids: readonly string[]) => FromRouter; readonly forgets: boolean },
  ): Promise<void> {
    const { owners, ends } = this.#parts
    const asked = [...this.#processes]
    // A process that connects meanwhile is not asked, and the circuits may be its own.
    const areAllAsked = this.#isEveryOther(asked)
    const { owned, ofNobody } = await owners.sort(circuitIds, asked)
    for (const [{ channel }, ids] of owned) channel.send({ type: 'from-router', routerId, message: ofOthers(ids) })
    if (!forgets || !areAllAsked || this.#parts.context.clock.now() < this.#unsureUntil) return
    for (const id of ofNobody) if (!this.#isOwn(routerId, id)) ends.unroute(id, [routerId], true)
  }

  /** A process without routers may be connected and not be among the known ones: it does not stand in for a process that is cut off. */
  #isEveryOther(processes: readonly Using[]): boolean {
    return this.#others?.every((other) => processes.some(({ address }) => address === other)) === true
  }

  #isOwn(routerId: string, circuitId: string): boolean {
    const { circuits, exchange } = this.#parts
    return circuits.get(circuitId) !== undefined || exchange.isAt(routerId, circuitId)
  }

  #toOwner(routerId: string, circuitId: string, message: FromRouter): boolean {
    const owner = this.#parts.owners.ownerOf(circuitId)
    owner?.channel.send({ type: 'from-router', routerId, message })
    return owner !== undefined
  }

  #toFollowers(routerId: string, message: FromRouter): void {
    for (const { channel, follows } of this.#processes) {
      if (follows.has(routerId)) channel.send({ type: 'from-router', routerId, message })
    }
  }

  async #received(process: Using, message: ToHolder): Promise<void> {
    const { circuits, ends, owners, changeLink } = this.#parts
    switch (message.type) {
      case 'follow':
        return this.#follow(process, message.routerId, message.follows)
      case 'to-router':
        return this.#toRouter(process, message.routerId, message.message)
      case 'list-circuits':
        return this.#tellCircuits(process, message)
      case 'end-circuit': {
        const circuit = circuits.get(message.circuitId)
        if (circuit !== undefined) ends.end(circuit, 'removed', message.immediate)
        const { number } = message
        process.channel.send({ type: 'circuit-ended', number, wasOpen: circuit !== undefined })
        return
      }
      case 'change-link':
        changeLink(message.linkId, message)
        return
      case 'follow-dial':
        return this.#followDial(process, message)
      case 'unfollow-dial':
        process.dials.get(message.number)?.end()
        return
      case 'own-circuits':
        owners.answered(process, message.number, message.circuitIds)
    }
  }

  #follow({ channel, follows }: Using, routerId: string, isWanted: boolean): void {
    const { routers, network } = this.#parts
    if (!isWanted || routers.held(routerId) === undefined) {
      follows.delete(routerId)
      return
    }
    follows.add(routerId)
    const links = network.all().filter(({ source, target }) => source === routerId || target === routerId)
    const dialed = links.filter(({ source }) => source === routerId)
    const tell = (message: FromRouter) => channel.send({ type: 'from-router', routerId, message })
    tell({ type: 'router-links', links: dialed, fullRefresh: true })
    tell({ type: 'metrics', nanoseconds: latenciesAt(routerId, links), usage: [] })
  }

  async #followDial(
    { channel, dials }: Using,
    { number, waitMs, ...question }: Extract<ToHolder, { type: 'follow-dial' }>,
  ): Promise<void> {
    const dial = this.#parts.traces.follow(question, waitMs)
    dials.set(number, dial)
    const trace = (await dial.trace) ?? null
    dials.delete(number)
    channel.send({ type: 'dial-traced', number, trace })
  }

  #toRouter(process: Using, routerId: string, message: ToRouter): void {
    const router = this.#parts.routers.held(routerId)
    if (router === undefined || !PASSED_ON.has(message.type)) return
    if (message.type === 'route') this.#parts.owners.set(message.circuitId, process)
    else if (message.type === 'unroute' && message.now) this.#parts.owners.forget(message.circuitId)
    router.channel.send(message)
  }

  async #tellCircuits(
    { channel }: Using,
    { number, ...question }: Extract<ToHolder, { type: 'list-circuits' }>,
  ): Promise<void> {
    const circuits = this.#parts.circuits.views(question)
    const turn = this.#parts.context.turns.begin()
    for (let first = 0; first === 0 || first < circuits.length; first += CIRCUITS_AT_ONCE) {
      const end = first + CIRCUITS_AT_ONCE
      const hasMore = end < circuits.length
      channel.send({ type: 'circuits', number, circuits: circuits.slice(first, end), hasMore })
      await turn()
    }
  }
}

/** The latencies (ns) that a router measured at its ends of links, as its metrics name them. */
function latenciesAt(routerId: string, links: readonly Link[]): ReadonlyMap<string, number> {
  const own = links.map(({ id, source, sourceLatencyMs, targetLatencyMs }) => {
    return [id, source === routerId ? sourceLatencyMs : targetLatencyMs] as const
  })
  const known = own.filter(([, latencyMs]) => latencyMs < UNKNOWN_LATENCY_MS)
  return new Map(known.map(([id, latencyMs]) => [`link.${id}.latency`, latencyMs * NANOSECONDS]))
}

function heldRouter(router: ConnectedRouter): HeldRouter {
  const { id, isEdgeRouter, fingerprint, software, capabilities, connectedAt } = router
  const { linkListeners, terms, isHeard, isQuiesced } = router
  const facts = { id, isEdgeRouter, fingerprint, software, capabilities, connectedAt }
  return { ...facts, linkListeners, terms, isHeard, isQuiesced }
}
