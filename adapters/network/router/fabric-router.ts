import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { FromRouter, PeerData, Route, ToRouter } from '../../../src/control-channel.ts'
import { type EgressOutcome, Forwarder } from './forwarder.ts'
import { fabricValues, inspectedValues, type ReadsValue } from './inspected-values.ts'
import type { LinksSettings } from './links/link-dialer.ts'
import { Links } from './links/links.ts'
import { ChannelTraces } from './state/channel-traces.ts'
import type { ConnectedController, ControllerListener, TakesControllers } from './state/controllers.ts'

/** The part of an edge router that has the ends of circuits. A router without it only forwards circuits. */
export interface CircuitHost extends TakesControllers {
  /** Reads a value of its state for operators. */
  readonly readValue: ReadsValue
  /** Dials a terminator; its end is attached to the forwarder under the address of the egress before this resolves. */
  dial(route: Route, controllerId: string): Promise<EgressOutcome>
}

/** The settings and surroundings of a router. */
export interface FabricRouterSettings extends Omit<LinksSettings, 'forwarder' | 'traces' | 'tell' | 'verify'> {
  /** Epoch ms, by which reports are dated. Default: the clock of the process. */
  readonly epoch?: () => number
  /** Creates the part with the ends of circuits; absent for a transit router. */
  readonly host?: (router: FabricRouter) => CircuitHost
}

/** The most routes that are laid at a time: a dial waits for its host. */
const MOST_ROUTES = 4096

/** A router: holds links, forwards circuits and handles the requests of its controllers over any connection. */
export class FabricRouter implements TakesControllers {
  readonly forwarder: Forwarder
  readonly links: Links
  readonly #traces: ChannelTraces
  readonly #host: CircuitHost | undefined
  readonly #controllers = new Map<string, ConnectedController>()
  #routes = 0
  #isStopping = false

  constructor(settings: FabricRouterSettings) {
    const { clock } = settings
    this.forwarder = new Forwarder({
      routerId: settings.routerId,
      now: clock.now,
      epoch: settings.epoch ?? runtime.now,
      timer: clock.timer,
      tell: (controllerId, message) => this.tell(message, controllerId),
    })
    this.#traces = new ChannelTraces(settings.routerId, (controllerId, message) => this.tell(message, controllerId))
    this.links = new Links({
      ...settings,
      forwarder: this.forwarder,
      traces: this.#traces,
      tell: (message) => this.tell(message),
      verify: (routerId, fingerprint) => this.#verify(routerId, fingerprint),
    })
    this.#host = settings.host?.(this)
  }

  /** Sends a message to a controller, or to all; a controller that is away gets nothing, and asks when it is back. */
  tell(message: FromRouter, controllerId?: string): void {
    for (const [id, controller] of this.#controllers) {
      if (controllerId === undefined || controllerId === id) controller.ask(message).catch(() => undefined)
    }
  }

  connected(controller: ConnectedController): ControllerListener {
    this.#controllers.set(controller.id, controller)
    const inner = this.#host?.connected(controller)
    const untrace = controller.traced && this.#traces.add(controller.traced)
    controller.ask(this.links.report()).catch(() => undefined)
    return {
      take: (message) => this.#take(controller, message, inner),
      lost: () => {
        untrace?.()
        if (this.#controllers.get(controller.id) === controller) {
          this.#controllers.delete(controller.id)
          this.#traces.forget(controller.id)
        }
        inner?.lost()
      },
    }
  }

  /** Takes no further circuits; laid circuits go on. */
  stop(): void {
    this.#isStopping = true
  }

  /** Ends every link; circuits end with them. */
  close(): void {
    this.links.close()
    this.forwarder.close()
  }

  async #take(
    controller: ConnectedController,
    message: ToRouter,
    inner: ControllerListener | undefined,
  ): Promise<FromRouter | undefined> {
    switch (message.type) {
      case 'route':
        return this.#route(controller.id, message)
      case 'unroute':
        // A controller may drop only its own circuits, and circuits that no controller laid here.
        if ([undefined, controller.id].includes(this.forwarder.controllerOf(message.circuitId))) {
          this.forwarder.unroute(message.circuitId, message.now)
        }
        return inner?.take(message)
      case 'link-fault':
        this.links.faulted(message.linkId, message.iteration)
        return undefined
      case 'peers':
        this.links.peersChanged(message.changes)
        return undefined
      case 'trace-channels':
        return this.#traces.set(controller.id, message)
      case 'inspect':
        return inspectedValues(message.id, message.values, [
          fabricValues(this.forwarder, this.links),
          ...(this.#host === undefined ? [] : [this.#host.readValue]),
        ])
      case 'validate-terminators': {
        if (inner !== undefined) return inner.take(message)
        const gone = { valid: false, detail: 'this router hosts nothing' }
        return { type: 'terminators-validated', states: new Map(message.terminators.map(({ id }) => [id, gone])) }
      }
      default:
        return inner?.take(message)
    }
  }

  async #route(controllerId: string, route: Route): Promise<FromRouter> {
    const { circuitId, attempt, egress } = route
    const failed = (cause: Extract<EgressOutcome, { success: false }>['cause'], message: string): FromRouter => {
      return { type: 'route-result', circuitId, attempt, success: false, cause, message, peerData: new Map() }
    }
    const isNew = this.forwarder.controllerOf(circuitId) === undefined
    if (this.#isStopping && isNew) return failed('no-resources', 'the router is stopping')
    if (this.#routes >= MOST_ROUTES) return failed('no-resources', 'too many routes at once')
    this.#routes += 1
    try {
      let peerData: PeerData = new Map()
      // The end is attached already: its circuit gets another path.
      if (egress !== undefined && !this.forwarder.has(egress.address)) {
        if (this.#host === undefined) return failed('invalid-terminator', 'this router hosts nothing')
        const outcome = await this.#host.dial(route, controllerId)
        if (!outcome.success) return failed(outcome.cause, outcome.message)
        peerData = outcome.peerData
      }
      const problem = this.forwarder.route(controllerId, route)
      if (problem?.cause === 'invalid-link') {
        this.tell({ type: 'fault', subject: 'link', id: problem.linkId, iteration: 0 }, controllerId)
        return failed('invalid-link', `the link ${problem.linkId} is not there`)
      }
      if (problem !== undefined) return failed('generic', problem.cause === 'no-end' ? 'the end is gone' : 'no room')
      return { type: 'route-result', circuitId, attempt, success: true, cause: 'generic', message: '', peerData }
    } catch (error) {
      return failed('generic', error instanceof Error ? error.message : 'the dial failed')
    } finally {
      this.#routes -= 1
    }
  }

  async #verify(routerId: string, fingerprint: string): Promise<boolean> {
    const question = { type: 'verify-router', routerId, fingerprints: [fingerprint] } as const
    const answers = [...this.#controllers.values()].map(async (controller) => {
      const answer = await controller.ask(question).catch(() => undefined)
      if (answer?.type === 'result' && answer.success) return true
      throw new Error('not known')
    })
    return Promise.any(answers).catch(() => false)
  }
}
