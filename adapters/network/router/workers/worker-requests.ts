import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter, ToRouter } from '../../../../src/control-channel.ts'
import type { ConnectedController } from '../state/controllers.ts'
import type { SharedFacts } from './shared-facts.ts'
import type { SpreadCircuits } from './spread-circuits.ts'
import { type FromWorker, isLocalLink, LINK_WORKER } from './worker-messages.ts'

type Ask = Extract<FromWorker, { type: 'ask' }>
type Subscription = Extract<FromRouter, { type: 'subscribe' }>

/** Milliseconds for which subscriptions of workers to the model wait for each other: the model is sent once. */
const SUBSCRIBE_TOGETHER_MS = 20

/** The messages of workers to controllers, which get them as of one router. */
export class WorkerRequests {
  readonly #controllers: ReadonlyMap<string, ConnectedController>
  readonly #facts: SharedFacts
  readonly #circuits: SpreadCircuits
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #subscriptionId = runtime.uuid()

  constructor(controllers: ReadonlyMap<string, ConnectedController>, facts: SharedFacts, circuits: SpreadCircuits) {
    this.#controllers = controllers
    this.#facts = facts
    this.#circuits = circuits
  }

  /** A controller is gone. */
  lost(controllerId: string): void {
    this.#subscriptions.delete(controllerId)
  }

  /** A worker has a message for a controller; resolves with the answer. Rejects when the controller fails to answer. */
  async ask(index: number, { controllerId, message }: Ask): Promise<ToRouter | undefined> {
    const controller = this.#controllers.get(controllerId)
    if (controller === undefined) throw new Error('the controller is gone')
    switch (message.type) {
      case 'router-links':
      case 'link-state':
        return index === LINK_WORKER ? controller.ask(message) : undefined
      case 'fault':
        return message.subject === 'link' && isLocalLink(message.id) ? undefined : controller.ask(message)
      case 'connect-events':
        return controller.ask(this.#facts.connected(index, message))
      case 'posture-reported': {
        const answer = await controller.ask(message)
        if (answer?.type === 'posture-known') this.#facts.wantsPosture(index, answer.apiSessionId)
        return answer
      }
      case 'posture-unwanted':
        return this.#facts.wantsPostureNoMore(index, message.apiSessionId) ? controller.ask(message) : undefined
      case 'create-circuit':
        return this.#circuits.dial(index, message, () => controller.ask(message))
      case 'create-terminator':
        return this.#register(controller, index, message)
      case 'remove-terminators': {
        const terminatorIds = this.#circuits.hostsNoMore(message.terminatorIds, index)
        return controller.ask({ ...message, terminatorIds })
      }
      case 'subscribe':
        this.#subscribe(controller, message)
        return undefined
      default:
        return controller.ask(message)
    }
  }

  /** A terminator that is refused is forgotten: a host may ask again and again, under another id each time. */
  async #register(
    controller: ConnectedController,
    index: number,
    request: Extract<FromRouter, { type: 'create-terminator' }>,
  ): Promise<ToRouter | undefined> {
    this.#circuits.hosts(request.address, index)
    const answer = await controller.ask(request)
    if (answer?.type === 'terminator-refused') this.#circuits.hostsNoMore([request.address], index)
    return answer
  }

  /** All workers get the same parts of the model: the worker that is furthest behind decides where they begin. */
  #subscribe(controller: ConnectedController, message: Subscription): void {
    const { id } = controller
    const waiting = this.#subscriptions.get(id)
    if (waiting === undefined || message.currentIndex < waiting.currentIndex) this.#subscriptions.set(id, message)
    if (waiting !== undefined) return
    runtime.timer(SUBSCRIBE_TOGETHER_MS, () => {
      const furthest = this.#subscriptions.get(id)
      this.#subscriptions.delete(id)
      if (furthest === undefined) return
      controller.ask({ ...furthest, subscriptionId: this.#subscriptionId }).catch(() => undefined)
    })
  }
}
