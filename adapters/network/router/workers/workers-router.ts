import { hostOf } from '../../../../src/base/addresses.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter, ToRouter } from '../../../../src/control-channel.ts'
import { ChannelTraces } from '../state/channel-traces.ts'
import type { ConnectedController, ControllerListener, TakesControllers } from '../state/controllers.ts'
import { mergedAnswer } from './merged-answers.ts'
import { SharedFacts } from './shared-facts.ts'
import { SpreadCircuits } from './spread-circuits.ts'
import { answerTo, Questions } from './told-controllers.ts'
import { type FromWorker, LINK_WORKER, type ToldController } from './worker-messages.ts'
import type { WorkerPool } from './worker-pool.ts'
import { WorkerRequests } from './worker-requests.ts'

type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void

/** Milliseconds between looks whether a controller has fallen silent. */
const SILENCE_LOOK_MS = 500
/** Milliseconds within which workers tell how many circuits are left, when the router stops. */
const TOLD_WITHIN_MS = 2000

/**
 * A router as its controllers have it, whose circuits workers carry. Messages of controllers go to the workers that they concern, those of
 * workers to controllers as of one router.
 */
export class WorkersRouter implements TakesControllers {
  readonly #advertise: string
  readonly #log: Log
  readonly #controllers = new Map<string, ConnectedController>()
  readonly #facts = new SharedFacts()
  readonly #circuits: SpreadCircuits
  readonly #requests: WorkerRequests
  /** Those of the control channels; workers have those of their links. */
  readonly #traces: ChannelTraces
  /** Questions to each worker. */
  readonly #questions = new Map<number, Questions<FromRouter>>()
  /** The workers of the channels of several sockets. */
  readonly #groups = new Map<string, number>()
  /** The circuits that each worker carries while the router stops. */
  readonly #carried = new Map<number, number>()
  readonly #silent = new Map<string, boolean>()
  readonly #cancelLook: () => void
  #onCarried: () => void = () => undefined
  #pool: WorkerPool | undefined
  #pathOf: (index: number) => string = () => ''
  #isStopping = false

  constructor(facts: { readonly routerId: string; readonly advertise: string }, log: Log) {
    this.#advertise = facts.advertise
    this.#log = log
    const tell = (controllerId: string, message: FromRouter) => this.#tellOne(controllerId, message)
    this.#traces = new ChannelTraces(facts.routerId, tell)
    this.#circuits = new SpreadCircuits({
      take: (index, controllerId, message) => this.#askWorker(index, controllerId, message),
      tell: (controllerId, message) =>
        void this.#controllers
          .get(controllerId)
          ?.ask(message)
          .catch(() => undefined),
    })
    this.#requests = new WorkerRequests(this.#controllers, this.#facts, this.#circuits)
    this.#cancelLook = runtime.interval(SILENCE_LOOK_MS, () => this.#lookForSilence())
  }

  /** The workers, and the path to each. */
  begin(pool: WorkerPool, pathOf: (index: number) => string): void {
    this.#pool = pool
    this.#pathOf = pathOf
  }

  connected(controller: ConnectedController): ControllerListener {
    this.#controllers.set(controller.id, controller)
    const untrace = controller.traced && this.#traces.add(controller.traced)
    for (const index of this.#ready) this.#tellOf(controller, index)
    return {
      take: (message) => this.#take(controller, message),
      lost: () => {
        untrace?.()
        if (this.#controllers.get(controller.id) !== controller) return
        this.#controllers.delete(controller.id)
        this.#requests.lost(controller.id)
        this.#traces.forget(controller.id)
        for (const index of this.#ready) this.#pool?.send(index, { type: 'controller-lost', id: controller.id })
      },
    }
  }

  /** A worker takes messages. */
  ready(index: number): void {
    this.#questions.set(index, new Questions())
    for (const controller of this.#controllers.values()) {
      this.#tellOf(controller, index)
      for (const message of this.#facts.forWorker(index === LINK_WORKER)) this.#tell(index, controller.id, message)
    }
    if (this.#isStopping) this.#pool?.send(index, { type: 'stop' })
  }

  received(index: number, message: FromWorker): void {
    switch (message.type) {
      case 'ask':
        void answerTo(message.number, this.#requests.ask(index, message)).then((answer) =>
          this.#pool?.send(index, answer),
        )
        return
      case 'answer':
        this.#questions.get(index)?.answered(message)
        return
      case 'group':
        if (!message.isHere) {
          if (this.#groups.get(message.id) === index) this.#groups.delete(message.id)
        } else if (!this.#groups.has(message.id)) {
          this.#groups.set(message.id, index)
          this.#pool?.follows(message.remoteHost, index)
        }
        return
      case 'where': {
        const place = message.id === '' ? LINK_WORKER : this.#groups.get(message.id)
        const path = place === undefined || place === index ? undefined : this.#pathOf(place)
        this.#pool?.send(index, { type: 'placed', number: message.number, path })
        return
      }
      case 'carries':
        this.#carried.set(index, message.circuits)
        this.#onCarried()
        return
      case 'log':
        this.#log(message.event, { ...message.fields, worker: index + 1 })
        return
      default:
    }
  }

  /** A worker is gone: controllers hear what was there. It is told of them anew when it is back. */
  lost(index: number): void {
    this.#questions.get(index)?.end('the process of the router is gone')
    this.#questions.delete(index)
    this.#carried.delete(index)
    for (const [id, place] of this.#groups) if (place === index) this.#groups.delete(id)
    const terminatorIds = this.#circuits.lost(index)
    if (terminatorIds.length > 0) this.#tellAll({ type: 'remove-terminators', terminatorIds })
    for (const message of this.#facts.lost(index)) this.#tellAll(message)
    if (index === LINK_WORKER) this.#tellAll({ type: 'router-links', links: [], fullRefresh: true })
    this.#onCarried()
  }

  /** Two workers reach each other no more. */
  parted(one: number, other: number): void {
    this.#circuits.parted(one, other)
  }

  /** Takes no further circuits; resolves with the number of remaining circuits, as far as workers tell soon. */
  async stop(): Promise<number> {
    this.#isStopping = true
    for (const index of this.#ready) this.#pool?.send(index, { type: 'stop' })
    await this.#until(() => this.#ready.every((index) => this.#carried.has(index)), TOLD_WITHIN_MS)
    return this.#left
  }

  /** Resolves when no circuit is left, or after some milliseconds. */
  async untilEmpty(waitMs: number): Promise<void> {
    await this.#until(() => this.#left === 0, waitMs)
  }

  close(): void {
    this.#cancelLook()
  }

  get #ready(): readonly number[] {
    return this.#pool?.ready ?? []
  }

  get #left(): number {
    return [...this.#carried.values()].reduce((sum, circuits) => sum + circuits, 0)
  }

  /** Workers tell several times a second. */
  #until(isSo: () => boolean, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = runtime.timer(waitMs, resolve, true)
      this.#onCarried = () => {
        if (!isSo()) return
        cancel()
        resolve()
      }
      this.#onCarried()
    })
  }

  async #take(controller: ConnectedController, message: ToRouter): Promise<FromRouter | undefined> {
    this.#facts.told(message, controller.id)
    switch (message.type) {
      case 'edge-hello': {
        const listeners = [{ protocol: 'tls', advertise: this.#advertise }]
        return { type: 'edge-hello', hostname: hostOf(this.#advertise), listeners }
      }
      case 'route':
        return this.#circuits.route(controller.id, message)
      case 'unroute':
        this.#circuits.unrouted(message.circuitId)
        return this.#askAll(controller.id, message)
      case 'link-fault':
      case 'peers':
        return this.#askWorker(LINK_WORKER, controller.id, message)
      case 'trace-channels': {
        const [own, ofWorkers] = await Promise.all([
          this.#traces.set(controller.id, message),
          this.#askAll(controller.id, message),
        ])
        return mergedAnswer(ofWorkers === undefined ? [own] : [own, ofWorkers])
      }
      case 'inspect': {
        const answer = await this.#askAll(controller.id, message)
        const isAsked = message.values.some((name) => name.toLowerCase() === 'router-workers')
        if (!isAsked || answer?.type !== 'inspected') return answer
        const workers = this.#ready.map((index) => this.#pool?.shown(index))
        const value = JSON.stringify({ workers, ...this.#circuits.counts })
        return { ...answer, values: [...answer.values, { name: 'router-workers', value }] }
      }
      default:
        return this.#askAll(controller.id, message)
    }
  }

  async #askAll(controllerId: string, message: ToRouter): Promise<FromRouter | undefined> {
    const asked = this.#ready.map((index) => this.#askWorker(index, controllerId, message).catch(() => undefined))
    const answers = await Promise.all(asked)
    return mergedAnswer(answers.filter((answer) => answer !== undefined))
  }

  async #askWorker(index: number, controllerId: string, message: ToRouter): Promise<FromRouter | undefined> {
    const questions = this.#questions.get(index)
    if (questions === undefined) throw new Error('the process of the router is gone')
    return questions.ask((number) => this.#pool?.send(index, { type: 'ask', number, controllerId, message }))
  }

  #tell(index: number, controllerId: string, message: ToRouter): void {
    this.#askWorker(index, controllerId, message).catch(() => undefined)
  }

  #tellOne(controllerId: string, message: FromRouter): void {
    this.#controllers
      .get(controllerId)
      ?.ask(message)
      .catch(() => undefined)
  }

  #tellAll(message: FromRouter): void {
    for (const controller of this.#controllers.values()) controller.ask(message).catch(() => undefined)
  }

  #tellOf(controller: ConnectedController, index: number): void {
    this.#pool?.send(index, { type: 'controller', controller: toldOf(controller) })
  }

  #lookForSilence(): void {
    for (const controller of this.#controllers.values()) {
      const { id, isSilent = false } = controller
      if ((this.#silent.get(id) ?? false) === isSilent) continue
      this.#silent.set(id, isSilent)
      for (const index of this.#ready) this.#tellOf(controller, index)
    }
  }
}

function toldOf({ id, judgesPosture, takesPosture, isOfOldLine, isSilent }: ConnectedController): ToldController {
  return {
    ...{ id, judgesPosture },
    ...(takesPosture !== undefined && { takesPosture }),
    ...(isOfOldLine !== undefined && { isOfOldLine }),
    ...(isSilent !== undefined && { isSilent }),
  }
}
