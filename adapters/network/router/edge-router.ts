import type { Duplex } from 'node:stream'
import { hostOf } from '../../../src/base/addresses.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { FromRouter, Route, ToRouter } from '../../../src/control-channel.ts'
import { createLoopTurns, EDGE_ERROR, type EdgeRefusal, OF_THIS_PROCESS } from '../../../src/data-plane.ts'
import type { Channel } from '../channel/channel.ts'
import { processTimer, type Timer } from '../channel/conversation.ts'
import { EDGE_HEADER } from '../channel/edge-messages.ts'
import { readText } from '../channel/header-values.ts'
import type { BoundService } from './edge/bound-service.ts'
import { ConnectedEndpoints } from './edge/connected-endpoints.ts'
import { Admission, isFinal, NOT_KNOWN_YET, readCertificate } from './edge/edge-admission.ts'
import { EdgeChannel } from './edge/edge-channel.ts'
import { EdgeCircuits } from './edge/edge-circuits.ts'
import { EdgeListener, type EdgeStranger } from './edge/edge-listener.ts'
import { EdgePosture } from './edge/edge-posture.ts'
import type { EdgeClient } from './edge/endpoint.ts'
import { HostedServices } from './edge/hosting-endpoints.ts'
import type { CircuitHost, FabricRouter } from './fabric-router.ts'
import type { EgressOutcome } from './forwarder.ts'
import type { ReadsValue } from './inspected-values.ts'
import type { ConnectedController, ControllerListener } from './state/controllers.ts'
import { RouterModel } from './state/router-model.ts'

/** Facts about an edge router that it learns from its owner. */
export interface EdgeRouterFacts {
  readonly id: string
  /** The network's trust bundle, PEM. */
  readonly caPem: string
  /** Its version, as endpoints and other routers read it. */
  readonly version: string
  /** Where endpoints reach it: `host:port`; empty for a router that listens nowhere. */
  readonly advertise: string
  readonly timer?: Timer
  /** Epoch ms. */
  readonly now?: () => number
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonic?: () => number
  readonly log?: (event: string, fields: Readonly<Record<string, string>>) => void
}

/** Milliseconds between looks for tokens that have expired and circuits that carry nothing. */
const EXPIRY_LOOK_MS = 5000
/** Milliseconds between messages that keep the sessions of connected endpoints alive. */
const KEEP_ALIVE_MS = 60_000
/** Milliseconds between full reports of the connected endpoints. */
const REPORT_MS = 300_000
/** Milliseconds after which the model is asked for again: a subscription ends after five minutes, and deployed controllers then send nothing. */
const SUBSCRIBE_MS = 120_000
/** Milliseconds that a hello waits for its session, or its identity, to be announced. */
const SESSION_MS = 5000
const SESSION_LOOK_MS = 50
/** Turns of the event loop within which the process of the controller tells its router of a change. */
const LATE_TURNS = 16

/** Work that is done again and again. */
type Regular = 'sessions' | 'report' | 'model'

/**
 * An edge router: endpoints connect to it, dial services and host them. Rights are decided by the controllers that it is connected to,
 * but for the posture of bearer sessions where a controller leaves that to it.
 */
export class EdgeRouter implements CircuitHost {
  readonly #facts: EdgeRouterFacts
  #advertise: string
  readonly #timer: Timer
  readonly #now: () => number
  readonly #turns = createLoopTurns()
  readonly #model: RouterModel
  readonly #listener: EdgeListener
  readonly #hosted: HostedServices
  readonly #posture: EdgePosture
  readonly #circuits: EdgeCircuits
  readonly #controllers = new Set<ConnectedController>()
  readonly #endpoints: ConnectedEndpoints
  readonly #subscriptionId = runtime.uuid()
  #cancelLook: () => void
  /** Epoch ms. */
  readonly #doneAt = new Map<Regular, number>()
  #isClosed = false

  constructor(facts: EdgeRouterFacts, router: FabricRouter) {
    this.#facts = facts
    this.#advertise = facts.advertise
    this.#timer = facts.timer ?? processTimer
    this.#now = facts.now ?? runtime.now
    const controller = () => this.#anyController()
    this.#model = new RouterModel(this.#turns)
    const posture = new EdgePosture({ model: this.#model, controller, now: this.#now })
    this.#posture = posture
    this.#endpoints = new ConnectedEndpoints({
      model: this.#model,
      posture,
      now: this.#now,
      turns: this.#turns,
      report: (message) => this.#tellAll(message),
      log: (event, fields) => facts.log?.(event, fields),
    })
    this.#circuits = new EdgeCircuits({
      forwarder: router.forwarder,
      now: facts.monotonic ?? runtime.monotonic,
      timer: this.#timer,
      tellEnd: (circuitId, { side: subject, isUnstarted }, controllerId) =>
        router.tell({ type: 'fault', subject, id: circuitId, iteration: 0, isUnstarted }, controllerId),
    })
    this.#hosted = new HostedServices({
      timer: this.#timer,
      circuits: this.#circuits,
      controller,
      posture,
      now: this.#now,
    })
    this.#listener = new EdgeListener({
      routerId: facts.id,
      version: facts.version,
      get asksPosture() {
        return posture.isAsked
      },
      get takesSessionlessDials() {
        return posture.takesSessionlessDials
      },
      admit: (token, stranger) => this.#admit(token, stranger),
      admitted: (client, channel) => this.#admitted(client, channel),
    })
    this.#model.onChange((change) => this.#endpoints.changed(change))
    this.#cancelLook = this.#timer(EXPIRY_LOOK_MS, () => this.#look())
  }

  get id(): string {
    return this.#facts.id
  }

  /** The facts that it has of its network. */
  get model(): Pick<RouterModel, 'get' | 'grantsOf' | 'sessions'> {
    return this.#model
  }

  /** Takes a TLS socket on which an endpoint is expected. */
  accept(socket: Duplex, stranger: EdgeStranger): void {
    if (this.#isClosed) socket.destroy()
    else this.#listener.accept(socket, stranger)
  }

  /** Takes a channel of an endpoint in this process, whose first message is its hello. */
  greet(channel: Channel, stranger: EdgeStranger): void {
    if (this.#isClosed) channel.destroy()
    else this.#listener.greet(channel, stranger)
  }

  connected(controller: ConnectedController): ControllerListener {
    this.#controllers.add(controller)
    void this.#posture.connected(controller)
    this.#subscribe(controller)
    this.#endpoints.report()
    void this.#hosted.registerAll()
    return {
      take: (message) => this.#take(controller, message),
      lost: () => void this.#controllers.delete(controller),
    }
  }

  dial(route: Route, controllerId: string): Promise<EgressOutcome> {
    return this.#hosted.dial(route, controllerId)
  }

  /** Lists the connected endpoints and the hosted services. No endpoint is asked: circuits whose windows an endpoint keeps are left out. */
  readonly readValue: ReadsValue = (name) => {
    switch (name) {
      case 'sdk-terminators':
        return { entries: [...this.#hosted.all()].map(terminatorValue), errors: [] }
      case 'ert-terminators':
        return { entries: [], errors: [] }
      case 'router-edge-circuits':
      case 'router-sdk-circuits':
        return { circuits: {} }
      case 'identity-connection-statuses':
        return { identity_connections: this.#endpoints.identityConnections() }
      default:
        return undefined
    }
  }

  /** Ends every channel and circuit. */
  close(): void {
    this.#isClosed = true
    this.#cancelLook()
    this.#listener.close()
    this.#endpoints.end()
    this.#circuits.close()
  }

  /** Endpoints reach it at another `host:port` from now on; answers the message for its controllers. */
  moveTo(advertise: string): FromRouter {
    this.#advertise = advertise
    return this.#hello
  }

  get #hello(): FromRouter {
    if (this.#advertise === '') return { type: 'edge-hello', hostname: '', listeners: [] }
    const listeners = [{ protocol: 'tls', advertise: this.#advertise }]
    return { type: 'edge-hello', hostname: hostOf(this.#advertise), listeners }
  }

  async #take(controller: ConnectedController, message: ToRouter): Promise<FromRouter | undefined> {
    switch (message.type) {
      case 'edge-hello':
        return this.#hello
      case 'api-sessions-added':
        this.#model.takeSessions(message, controller.id)
        return undefined
      case 'api-sessions-updated':
        this.#model.updateSessions(message.sessions)
        return undefined
      case 'api-sessions-removed':
        this.#model.removeSessions(message.tokens, message.ids)
        return undefined
      case 'sessions-removed':
        this.#sessionsEnded(message.ids)
        return undefined
      case 'posture-known':
        this.#posture.known(message)
        this.#endpoints.judgePosture(message.apiSessionId)
        return undefined
      case 'model-state':
        await this.#model.takeState(message)
        return undefined
      case 'model-changes':
        if (!(await this.#model.takeChanges(message))) this.#subscribe(controller)
        return undefined
      case 'validate-model':
        return { type: 'model-validated', differences: await this.#model.differencesFrom(message.events) }
      case 'validate-terminators': {
        const states = message.terminators.map(({ id }) => {
          const valid = this.#hosted.has(id)
          return [id, { valid, detail: valid ? '' : 'not hosted at this router' }] as const
        })
        return { type: 'terminators-validated', states: new Map(states) }
      }
      default:
        return undefined
    }
  }

  async #admit(token: string, { chain, isOfProcess }: EdgeStranger): Promise<EdgeClient | string> {
    const certificate = isOfProcess ? OF_THIS_PROCESS : readCertificate(chain, this.#facts.caPem)
    const until = this.#now() + SESSION_MS
    const admission = new Admission(this.#model, token, certificate)
    for (let turn = 0; ; turn += 1) {
      const admitted = await admission.judge(this.#now())
      if (typeof admitted !== 'string' || isFinal(admitted) || this.#isClosed) return admitted
      // A session that began a moment ago may be announced a moment later: turns of the event loop pass also where a test stops the clock.
      if (turn < LATE_TURNS) await new Promise<void>((resolve) => runtime.later(resolve))
      else if (admitted !== NOT_KNOWN_YET || this.#now() >= until) return admitted
      else await new Promise<void>((resolve) => this.#timer(SESSION_LOOK_MS, resolve))
    }
  }

  #admitted(client: EdgeClient, channel: Channel): void {
    const edge: EdgeChannel = new EdgeChannel(
      {
        timer: this.#timer,
        circuits: this.#circuits,
        hosted: this.#hosted,
        turns: this.#turns,
        controller: () => this.#anyController(),
        serviceId: (headers) => this.#serviceId(headers),
        posture: this.#posture,
        updates: { model: this.#model, posture: this.#posture, now: this.#now },
        reported: (reporter, message) => void this.#endpoints.reported(reporter, message),
        renewed: (renewed, before) => this.#endpoints.renewed(renewed, before),
        updatedClient: (current, token) => this.#updatedClient(current, token),
        troubled: (troubled, what) => this.#endpoints.misbehaved(troubled, what),
        closed: (closed) => {
          this.#endpoints.remove(closed)
          this.#listener.forget(channel)
        },
      },
      channel,
      client,
    )
    this.#endpoints.add(edge)
  }

  #serviceId(headers: ReadonlyMap<number, Uint8Array>): string {
    const named = readText(headers, EDGE_HEADER.service) ?? ''
    const isName = headers.get(EDGE_HEADER.serviceNaming)?.[0] === 1
    if (!isName) return named
    return this.#model.serviceId(named) ?? ''
  }

  async #updatedClient(current: EdgeClient, token: string): Promise<EdgeClient | EdgeRefusal> {
    const updated = await new Admission(this.#model, token, current.certificate).judge(this.#now())
    if (typeof updated === 'string') return { text: updated, code: EDGE_ERROR['invalid-api-session'] }
    if (updated.session.id !== current.session.id)
      return { text: 'the token is of another api session', code: EDGE_ERROR['invalid-api-session'] }
    return updated
  }

  #anyController(): ConnectedController | undefined {
    const [first] = this.#controllers
    if (first?.isSilent !== true) return first
    for (const controller of this.#controllers) if (controller.isSilent !== true) return controller
    return first
  }

  #tellAll(message: FromRouter): void {
    for (const controller of this.#controllers) controller.ask(message).catch(() => undefined)
  }

  #subscribe(controller: ConnectedController): void {
    const subscription = { ...this.#model.position, subscriptionId: this.#subscriptionId }
    controller.ask({ type: 'subscribe', ...subscription }).catch(() => undefined)
  }

  /** Service sessions are over: their hosting ends. Controllers end their circuits. */
  #sessionsEnded(ids: readonly string[]): void {
    const code = EDGE_ERROR['invalid-session']
    for (const bound of ids.flatMap((id) => this.#hosted.ofSession(id)))
      this.#hosted.close(bound, { text: 'the session is over', code, hint: 'start-over' })
  }

  #look(): void {
    if (this.#isClosed) return
    this.#cancelLook = this.#timer(EXPIRY_LOOK_MS, () => this.#look())
    const now = this.#now()
    this.#endpoints.judge()
    const isDue = (what: Regular, everyMs: number) => {
      if (now - (this.#doneAt.get(what) ?? 0) < everyMs) return false
      this.#doneAt.set(what, now)
      return true
    }
    if (isDue('sessions', KEEP_ALIVE_MS)) {
      const tokens = this.#endpoints.storedTokens()
      if (tokens.length > 0) this.#tellAll({ type: 'api-session-heartbeat', tokens })
    }
    if (isDue('report', REPORT_MS)) this.#endpoints.report()
    if (isDue('model', SUBSCRIBE_MS)) for (const controller of this.#controllers) this.#subscribe(controller)
  }
}

function terminatorValue(bound: BoundService) {
  const { terminatorId: id, listener, instanceId: instance, cost, precedence, assignsIds, usesXgress } = bound
  const state = bound.isEstablished ? 'established' : 'establishing'
  return {
    ...{ key: id, id, state, token: bound.sessionId, listenerId: listener, instance, cost, precedence },
    ...{ assignIds: assignsIds, useSdkXgress: usesXgress, supportsInspect: false, operationActive: false },
    ...{ createTime: '', lastAttempt: '' },
  }
}
