import { ControllerError } from '../base/errors.ts'
import { MINUTE_MS } from '../base/time.ts'
import { logFailure } from '../context/background-failure.ts'
import type { FromRouter, Misbehaviour, RouterSession, ToRouter } from '../facts/fabric/messages/index.ts'
import { StorageUnavailable } from '../ports/record-storage.ts'
import type { FabricParts } from './assemble-fabric.ts'
import { RouterRefusal } from './channels/channel-admission.ts'
import type { ConnectedRouter } from './channels/connected-routers.ts'
import { CircuitMessages } from './circuits/circuit-messages.ts'
import { foreignTerminator } from './hosted-terminators.ts'
import { RouterFacts } from './router-facts.ts'
import { shutOutStrangers } from './shut-out.ts'

/** The surroundings of a session. */
export interface SessionPorts {
  /** Tells which controllers there are. */
  readonly controllers: () => ToRouter
  readonly onClosed: () => void
}

/** The messages of a connected router, handed to the part of the controller that each concerns. */
export class ConnectedSession implements RouterSession {
  readonly #parts: FabricParts
  readonly #router: ConnectedRouter
  readonly #circuits: CircuitMessages
  readonly #facts: RouterFacts
  readonly #onClosed: () => void
  /** Epoch ms of the last report of a misbehaviour. */
  readonly #warnedAt = new Map<Misbehaviour, number>()

  constructor(parts: FabricParts, router: ConnectedRouter, ports: SessionPorts) {
    this.#parts = parts
    this.#router = router
    this.#circuits = new CircuitMessages(parts, router)
    this.#facts = new RouterFacts(parts, router, {
      controllers: ports.controllers,
      misbehaved: (what) => this.misbehaved(what),
    })
    this.#onClosed = ports.onClosed
  }

  async receive(message: FromRouter): Promise<ToRouter | undefined> {
    if (this.#parts.routers.get(this.#router.id) !== this.#router) return undefined
    const left = this.#parts.relays.passOn(this.#router, message)
    if (left === undefined) return undefined
    try {
      return await this.#handle(left)
    } catch (error) {
      return this.#refusal(message, error)
    }
  }

  heard(): void {
    if (this.#router.isHeard) return
    this.#router.isHeard = true
    this.#parts.network.routersChanged()
    this.#parts.relays.changed(this.#router)
  }

  misbehaved(what: Misbehaviour): void {
    const at = this.#parts.context.clock.now()
    if (at - (this.#warnedAt.get(what) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return
    this.#warnedAt.set(what, at)
    this.#parts.context.events.emit('router.misbehaved', { routerId: this.#router.id, what, at })
  }

  closed(): void {
    this.#onClosed()
  }

  async #handle(message: FromRouter): Promise<ToRouter | undefined> {
    const { hosted, validation, announced, apiSessions, model, links, owed } = this.#parts
    const { id } = this.#router
    switch (message.type) {
      case 'fault':
        return this.#fault(message)
      case 'route-result':
        return this.#circuits.routeResult(message)
      case 'circuit-confirmation':
        return this.#circuits.confirm(message)
      case 'create-circuit':
        return this.#circuits.create(message)
      case 'create-tunnel-circuit':
        return this.#circuits.createForRouter(message)
      case 'metrics':
        if (links.measured(id, message.nanoseconds).hasForeign) this.misbehaved('foreign-link')
        this.#facts.sentAt(message.sentAt)
        return this.#circuits.usage(message.usage)
      case 'router-links':
        if (links.reported(id, message.links, message.fullRefresh).hasForeign) this.misbehaved('foreign-link')
        await shutOutStrangers(
          this.#parts,
          message.links.map(({ target }) => target),
        )
        return undefined
      case 'create-terminator':
        return hosted.registerForSdk(this.#router, message)
      case 'create-tunnel-terminator':
        return hosted.registerForRouter(id, message)
      case 'update-terminator':
        await hosted.update(id, message)
        return { type: 'terminator-updated' }
      case 'remove-terminators':
        if ((await hosted.remove(id, message.terminatorIds)).hasForeign) throw foreignTerminator()
        return { type: 'result', success: true, message: '' }
      case 'terminators-validated':
        if (
          (await validation.answered(id, message, this.#parts.terminatorComparisons.answered(id, message))).hasForeign
        )
          this.misbehaved('foreign-terminator')
        return undefined
      case 'subscribe':
        model.subscribe(this.#router, message)
        return undefined
      case 'model-validated':
        this.#parts.modelValidation.answered(this.#router, message)
        return undefined
      case 'inspected':
        this.#parts.routerInspections.answered(this.#router, message)
        return undefined
      case 'traces-set':
        this.#parts.tracing.answered(this.#router, message)
        return undefined
      case 'channel-trace':
        this.#parts.tracing.saw(message)
        return undefined
      case 'api-session-heartbeat':
        return this.#forget(await apiSessions.keepAlive(message.tokens))
      case 'posture-reported':
        return this.#parts.endpointPosture.take(this.#router, message)
      case 'posture-unwanted':
        this.#parts.endpointPosture.unwanted(this.#router, message.apiSessionId)
        return undefined
      case 'resync-api-sessions':
        await owed.tell(this.#router, 'api-sessions', () => announced.tellAll(this.#router))
        return undefined
      case 'validate-sessions':
        await owed.tell(this.#router, `sessions ${message.tokens[0]}`, () =>
          this.#circuits.validateSessions(message.tokens),
        )
        return undefined
      default:
        return this.#facts.handle(message)
    }
  }

  #fault({ subject, id, iteration, isUnstarted }: Extract<FromRouter, { type: 'fault' }>): undefined {
    const isAboutLink = subject === 'link' || subject === 'duplicate-link'
    if (!isAboutLink) {
      if (this.#circuits.fault(subject, id, isUnstarted).hasForeign) this.misbehaved('foreign-circuit')
    } else if (this.#parts.links.fault(this.#router.id, id, iteration, subject === 'duplicate-link').isForeign) {
      this.misbehaved('foreign-link')
    }
  }

  #forget(tokens: readonly string[]): ToRouter | undefined {
    return tokens.length === 0 ? undefined : { type: 'api-sessions-removed', tokens, ids: tokens }
  }

  #refusal(message: FromRouter, error: unknown): ToRouter | undefined {
    const refused = error instanceof RouterRefusal ? error : undefined
    if (refused === undefined) {
      const facts = { routerId: this.#router.id, message: message.type }
      const { logger } = this.#parts.context
      // A router that asks wrongly is no failure of the controller.
      if (error instanceof ControllerError)
        logger.warn('a router asked for what cannot be done', { ...facts, error: String(error) })
      else logFailure(logger, 'a message of a router could not be handled', error, facts)
    }
    if (refused?.misbehaviour !== undefined) this.misbehaved(refused.misbehaviour)
    const { code, hint } = refused ?? ({ code: 'internal', hint: 'too-busy' } as const)
    const text = refused?.message ?? failureText(error)
    switch (message.type) {
      case 'create-terminator':
      case 'create-tunnel-terminator':
        return { type: 'terminator-refused', terminatorId: message.address, code, hint, message: text }
      case 'posture-reported':
      case 'create-circuit':
      case 'create-tunnel-circuit':
      case 'update-terminator': {
        const { circuitId } = refused ?? {}
        return { type: 'refusal', code, hint, message: text, ...(circuitId === undefined ? {} : { circuitId }) }
      }
      case 'remove-terminators':
      case 'verify-router':
      case 'interfaces':
      case 'quiesce':
      case 'dequiesce':
      case 'decommission':
        return { type: 'result', success: false, message: text }
      default:
        return undefined
    }
  }
}

/** The text of a failure for endpoints: it names the part that is unavailable. */
function failureText(error: unknown): string {
  if (error instanceof StorageUnavailable) return `the storage of the controller is not available: ${error.reason}`
  return 'the controller failed'
}
