import type { Socket } from 'node:net'
import { ChannelSocket } from '../../channel/channel-socket.ts'
import { EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readControl, writeControl } from '../../channel/trace-routes.ts'
import type { Destination, Forwarder } from '../forwarder.ts'
import { LINK_LIMITS } from '../links/link-dialer.ts'
import { LINK_SOCKET } from '../links/link-hello.ts'
import { type LinkClock, RouterLink } from '../links/router-link.ts'
import { dialWorker } from './worker-door.ts'
import { localLink } from './worker-messages.ts'

/** The parts of a worker that its local links need. */
interface LocalLinksParts {
  readonly index: number
  readonly routerId: string
  readonly clock: LinkClock
  readonly forwarder: Forwarder
  /** A link to another worker has begun or ended. */
  changed(index: number, isLinked: boolean): void
}

/** Circuits that are looked through at the end of a link: as many as a router forwards. */
const MOST_CIRCUITS = 100_000
const GONE = 'the process of the router with the other end of the circuit is gone'

/**
 * The links of a worker to the other workers of its router, one to each. They carry circuits whose ends are at two workers, as links do between
 * two routers, and are known to nobody outside.
 */
export class LocalLinks {
  readonly #parts: LocalLinksParts
  readonly #links = new Map<number, RouterLink>()

  constructor(parts: LocalLinksParts) {
    this.#parts = parts
  }

  /** Dials another worker. */
  async dial(index: number, path: string): Promise<void> {
    try {
      this.take(await dialWorker(path, { kind: 'worker', index: this.#parts.index }), index)
    } catch {
      this.#parts.changed(index, false)
    }
  }

  /** Takes a socket to another worker in place of an earlier one. */
  take(socket: Socket, index: number): void {
    const { clock, forwarder, routerId, changed } = this.#parts
    const id = localLink(this.#parts.index, index)
    const facts = { id, peerId: routerId, iteration: 0, isDialed: false, key: id, dialAddress: '' }
    const link = new RouterLink(facts, clock, {
      received: (_link, frame) => forwarder.arrived(id, frame),
      measured: () => undefined,
      changed: () => undefined,
      troubled: () => undefined,
      over: () => {
        detach()
        if (this.#links.get(index) !== link) return
        this.#links.delete(index)
        this.#endCircuits(id)
        changed(index, false)
      },
    })
    const before = this.#links.get(index)
    this.#links.set(index, link)
    before?.close()
    const nobody = { onMessage: () => undefined, onClose: () => undefined }
    const channel = new ChannelSocket(socket, LINK_LIMITS, LINK_LIMITS.frame, nobody)
    link.attach({ channel, type: LINK_SOCKET.data, localAddress: id, remoteAddress: id })
    const detach = forwarder.attach(id, new HiddenHop(link))
    channel.resume()
    changed(index, true)
  }

  close(): void {
    for (const link of [...this.#links.values()]) link.close()
  }

  /** The other end of a circuit is gone with its worker, and so is the only way to it. */
  #endCircuits(address: string): void {
    const { forwarder } = this.#parts
    for (const { circuitId, forwards } of forwarder.laidCircuits(MOST_CIRCUITS)) {
      if (forwards.has(address)) forwarder.unroute(circuitId, true, GONE)
    }
  }
}

/** A local link as the forwarder has it. Traces count a router once, however many of its workers a circuit passes. */
class HiddenHop implements Destination {
  readonly #link: RouterLink

  constructor(link: RouterLink) {
    this.#link = link
  }

  isFullFor(message: Frame): boolean {
    return this.#link.isFullFor(message)
  }

  whenRoom(work: () => void): void {
    this.#link.whenRoom(work)
  }

  take(circuitId: string, frame: Frame): void {
    const trace = frame.contentType === EDGE_TYPE.circuitControl ? readControl(frame) : undefined
    if (trace === undefined || trace.isAnswer) this.#link.take(circuitId, frame)
    else this.#link.take(circuitId, { ...frame, ...writeControl({ ...trace, hops: trace.hops + 1 }) })
  }
}
