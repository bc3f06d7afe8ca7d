import { ControllerError, notFound } from '../../base/errors.ts'
import { MINUTE_MS } from '../../base/time.ts'
import type { EngineContext, ModelComparison } from '../../context/context.ts'
import { serviceConfigs } from '../../facts/configs/config.resource.ts'
import type { FromRouter, ModelEvent } from '../../facts/fabric/messages/index.ts'
import {
  differencesOf,
  type ModelDifference,
  partsNotCompared,
  survivesOverrides,
} from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'
import type { ModelSubscriptions } from './model-subscriptions.ts'

interface Pending {
  readonly router: ConnectedRouter
  readonly settle: (reported: readonly ModelDifference[]) => void
  readonly fail: (error: Error) => void
}

const MOST_DIFFERENCES = 1000
const LONGEST_DETAIL = 1000

/** Asks routers to compare their data model with the model as read anew from the store. */
export class ModelValidation {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #model: ModelSubscriptions
  readonly #running = new Map<string, Promise<ModelComparison>>()
  readonly #pending = new Map<string, Pending>()

  constructor(context: EngineContext, routers: ConnectedRouters, model: ModelSubscriptions) {
    this.#context = context
    this.#routers = routers
    this.#model = model
    context.timetable.onDue('model-validation', async (ids) => {
      const message = 'the router did not answer within a minute'
      for (const id of ids) this.#fail(id, new ControllerError('TIMEOUT', { code: 'UNHANDLED', message }))
    })
  }

  /**
   * Asks one router; callers that ask meanwhile share the answer. A change that is on its way to the router shows as a difference. Errors:
   * `NOT_FOUND` where the router is not connected or does not follow the model, `ENTITY_CAN_NOT_BE_UPDATED` where it would end, `TIMEOUT`
   * after a minute.
   */
  validate(routerId: string): Promise<ModelComparison> {
    const running = this.#running.get(routerId)
    if (running !== undefined) return running
    const asked = this.#ask(routerId).finally(() => this.#running.delete(routerId))
    this.#running.set(routerId, asked)
    return asked
  }

  /** A router answered; there may be no question. */
  answered({ id }: ConnectedRouter, { differences }: Extract<FromRouter, { type: 'model-validated' }>): void {
    this.#take(id)?.settle(differences)
  }

  /** A router is gone. */
  forget(router: ConnectedRouter): void {
    if (this.#pending.get(router.id)?.router !== router) return
    this.#fail(router.id, gone(router.id))
  }

  async #ask(routerId: string): Promise<ModelComparison> {
    const router = this.#routers.held(routerId)
    if (router === undefined || !this.#model.isFollowedBy(router)) {
      const message = `router ${routerId} does not follow the data model of this process`
      throw new ControllerError('NOT_FOUND', { code: 'UNHANDLED', message })
    }
    await this.#requireSurvival(router)
    const notCompared = partsNotCompared(router.capabilities)
    const revocations = new Set<string>()
    const shown = (event: ModelEvent): readonly ModelEvent[] => {
      if (!('entity' in event)) return [event]
      const { entity } = event
      if (entity.type === 'revocation') revocations.add(entity.id)
      if (entity.type === 'revocation' && notCompared.includes('revocations')) return []
      const hasOverrides = entity.type === 'identity' && entity.serviceConfigs.size > 0
      if (!hasOverrides || !notCompared.includes('config-overrides')) return [event]
      return [{ ...event, entity: { ...entity, serviceConfigs: new Map() } }]
    }
    const { index, events } = await this.#model.fresh(routerId, shown)
    // The router may have left, or come back, since it was found: no event would then end the wait.
    if (this.#routers.held(routerId) !== router) throw gone(routerId)
    const reported = await new Promise<readonly ModelDifference[]>((settle, fail) => {
      this.#pending.set(routerId, { router, settle, fail })
      this.#context.timetable.set('model-validation', routerId, this.#context.clock.now() + MINUTE_MS)
      router.channel.send({ type: 'validate-model', index, events })
    })
    const differences = differencesOf(reported, notCompared, revocations)
    const first = differences.slice(0, MOST_DIFFERENCES)
    const clipped = first.map((one) => ({ ...one, detail: one.detail.slice(0, LONGEST_DETAIL) }))
    return { index, differences: clipped, differenceCount: differences.length, notCompared }
  }

  async #requireSurvival({ id, capabilities }: ConnectedRouter): Promise<void> {
    if (survivesOverrides(capabilities)) return
    const { totalCount } = await this.#context.storage.read((tx) => tx.collection(serviceConfigs).find({ limit: 1 }))
    if (totalCount === 0) return
    const message = `router ${id} is too old to compare identities that have configs of their own: it would end`
    throw new ControllerError('ENTITY_CAN_NOT_BE_UPDATED', { code: 'UNHANDLED', message })
  }

  #take(routerId: string): Pending | undefined {
    const pending = this.#pending.get(routerId)
    this.#pending.delete(routerId)
    this.#context.timetable.set('model-validation', routerId, undefined)
    return pending
  }

  #fail(routerId: string, error: Error): void {
    this.#take(routerId)?.fail(error)
  }
}

function gone(routerId: string): ControllerError {
  return notFound('connection of router', routerId)
}
