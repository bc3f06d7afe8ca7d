import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { processTimer } from '../../channel/conversation.ts'
import { EdgeRouter } from '../edge-router.ts'
import { FabricRouter } from '../fabric-router.ts'
import { takeForRouter } from '../router-server.ts'
import { LocalLinks } from './local-links.ts'
import { PlacedSockets, passOn } from './placed-sockets.ts'
import { ToldControllers } from './told-controllers.ts'
import { openDoor, type SocketFacts } from './worker-door.ts'
import { type FromWorker, LINK_WORKER, type ToWorker, type WorkerFacts } from './worker-messages.ts'

/** Milliseconds between two reports of the circuits that are left, while the router stops. */
const TOLD_EVERY_MS = 100
/** Milliseconds for which ends of circuits may still read their last bytes when a worker ends. */
const ENDING_MS = 200

/**
 * Runs in a process that {@link runRouterByWorkers} forked, as one worker of its router: it carries the circuits of the endpoints whose
 * connections it gets. The process ends when the first one says so, or is gone.
 */
export function runRouterWorker(): void {
  // A terminal and a service manager send their signals to every process: only the first process acts on them.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => undefined)
  process.once('disconnect', () => process.exit(1))
  const send = (message: FromWorker) => {
    if (process.connected) process.send?.(message)
  }
  let worker: Worker | undefined
  process.on('message', (message: ToWorker, socket: unknown) => {
    if (message.type === 'begin') worker = new Worker(message.facts, send)
    else worker?.take(message, socket)
  })
}

/** One worker of a router. */
class Worker {
  readonly #facts: WorkerFacts
  readonly #send: (message: FromWorker) => void
  readonly #router: FabricRouter
  readonly #edge: EdgeRouter
  readonly #links: LocalLinks
  readonly #controllers: ToldControllers
  readonly #tls: ReturnType<typeof takeForRouter>
  readonly #placed: PlacedSockets
  readonly #wheres = new Map<number, (path: string | undefined) => void>()
  #credentials: WorkerFacts['credentials']
  #wheresAsked = 0
  #isStopping = false

  constructor(facts: WorkerFacts, send: (message: FromWorker) => void) {
    this.#facts = facts
    this.#send = send
    this.#credentials = facts.credentials
    const { index, routerId, listeners, dialGroups, version, advertise } = facts
    const clock = { now: () => runtime.monotonic(), timer: processTimer }
    let edge: EdgeRouter | undefined
    this.#router = new FabricRouter({
      ...{ routerId, listeners, clock },
      credentials: () => this.#credentials,
      random: runtime.fraction,
      dialGroups: index === LINK_WORKER ? dialGroups : [],
      log: (event, fields) => send({ type: 'log', event, fields }),
      host: (fabric) => {
        edge = new EdgeRouter({ id: routerId, caPem: facts.credentials.ca, version, advertise }, fabric)
        return edge
      },
    })
    if (edge === undefined) throw new Error('a router with workers is an edge router')
    this.#edge = edge
    const { forwarder } = this.#router
    const changed = (other: number, isLinked: boolean) => send({ type: 'neighbour', index: other, isLinked })
    this.#links = new LocalLinks({ index, routerId, clock, forwarder, changed })
    this.#controllers = new ToldControllers(this.#router, send)
    this.#placed = new PlacedSockets({
      send,
      where: (id) => this.#where(id),
      accept: (...took) => this.#endpoint(...took),
    })
    this.#tls = takeForRouter({
      credentials: () => this.#credentials,
      acceptEndpoint: (stream, accepted) => this.#placed.take(stream, factsOf(accepted)),
      ...(facts.takesLinks && { acceptLink: ({ stream, ...accepted }) => this.#link(stream, accepted) }),
    })
    void openDoor(facts.path, (socket, preface) => {
      if (preface.kind === 'worker') this.#links.take(socket, preface.index)
      else if (preface.kind === 'link') this.#link(socket, preface.facts)
      else this.#placed.take(socket, preface.facts)
    }).then(() => send({ type: 'ready' }))
  }

  take(message: ToWorker, socket: unknown): void {
    if (this.#controllers.take(message)) return
    switch (message.type) {
      case 'socket':
        this.#accept(message.number, socket)
        break
      case 'neighbour':
        void this.#links.dial(message.index, message.path)
        break
      case 'credentials':
        this.#credentials = message.credentials
        this.#tls.renew()
        break
      case 'placed':
        this.#wheres.get(message.number)?.(message.path)
        this.#wheres.delete(message.number)
        break
      case 'stop':
        this.#stop()
        break
      case 'close':
        this.#close()
        break
      default:
    }
  }

  /** Takes a connection that the first process accepted. */
  #accept(number: number, socket: unknown): void {
    this.#send({ type: 'took', number })
    // A connection that ended on the way arrives as nothing.
    if (isSocket(socket)) {
      socket.on('error', () => undefined)
      socket.once('close', () => this.#send({ type: 'left' }))
      this.#tls.take(socket)
    } else this.#send({ type: 'left' })
  }

  #endpoint(stream: Duplex, { chain, remoteHost }: SocketFacts): void {
    this.#edge.accept(stream, { chain, remoteAddress: remoteHost })
    stream.resume()
  }

  /** One worker holds the links: only one of two links with the same router stays. */
  #link(stream: Duplex, facts: SocketFacts): void {
    if (this.#facts.index === LINK_WORKER) {
      void this.#router.links.accept({ ...facts, stream })
      stream.resume()
    } else void this.#passLinkOn(stream, facts)
  }

  async #passLinkOn(stream: Duplex, facts: SocketFacts): Promise<void> {
    const path = await this.#where('')
    if (path === undefined) stream.destroy()
    else await passOn(stream, path, { kind: 'link', facts })
  }

  #where(id: string): Promise<string | undefined> {
    this.#wheresAsked += 1
    const number = this.#wheresAsked
    return new Promise((resolve) => {
      this.#wheres.set(number, resolve)
      this.#send({ type: 'where', number, id })
    })
  }

  #stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#router.stop()
    const tell = () => {
      this.#send({ type: 'carries', circuits: this.#router.forwarder.circuits })
      runtime.timer(TOLD_EVERY_MS, tell)
    }
    tell()
  }

  #close(): void {
    this.#edge.close()
    this.#router.close()
    this.#links.close()
    runtime.timer(ENDING_MS, () => process.exit(0), true)
  }
}

function isSocket(value: unknown): value is Socket {
  return typeof value === 'object' && value !== null && 'remoteAddress' in value
}

function factsOf({ chain, localAddress, remoteAddress, remoteHost }: SocketFacts): SocketFacts {
  return { chain, localAddress, remoteAddress, remoteHost }
}
