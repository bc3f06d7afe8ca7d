import { Gate } from '../../concurrency/gate.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ToOperator } from '../../facts/fabric/messages/index.ts'
import { compareCounts, type Validated, type ValidationRequest } from '../../facts/fabric/rules/index.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import { FilterError, parseQuery, type Query, type SymbolTable } from '../../kernel/filter/index.ts'
import { pageOf } from '../../records/read-records.ts'
import type { ConnectedRouters } from '../channels/connected-routers.ts'
import type { RouterInspections } from '../channels/router-inspections.ts'
import { allRouters, filteredRouter, ROUTER_SYMBOLS, type RouterView } from '../data-plane-entities.ts'
import type { ModelValidation } from '../model/model-validation.ts'
import type { RouterComparisons } from './router-comparisons.ts'
import type { TerminatorComparisons } from './terminator-comparisons.ts'

/** How many routers are asked at once by one validation. */
const ROUTERS_AT_ONCE = 10
const NO_ADMINISTRATORS = 'isAdmin=false'
const NOTHING: Run = async () => undefined
/** Validations at once in this process. */
const MOST_AT_ONCE = 4

/** Hands over one result; nothing more is worked out once `isOver` says so. */
type Run = (tell: (result: Validated) => void, isOver: () => boolean) => Promise<void>

/** The number of results that a validation reports, or the reason why the validation cannot run. */
interface Plan {
  readonly count?: number
  readonly run?: Run
  readonly problem?: string
}

/** A validation that is to run once its first answer is sent. */
export interface Begun {
  readonly begun: ToOperator
  readonly run: Run
}

/** The parts of the data plane that validations compare. */
interface ValidationParts {
  readonly controllerId: string
  readonly context: EngineContext
  readonly routers: ConnectedRouters
  readonly asked: RouterInspections
  readonly model: ModelValidation
  readonly comparisons: RouterComparisons
  readonly terminators: TerminatorComparisons
}

/** Asks routers to compare their state with the controller's, and reports each result as it arrives. */
export class Validations {
  readonly #parts: ValidationParts
  readonly #gate = new Gate(MOST_AT_ONCE)

  constructor(parts: ValidationParts) {
    this.#parts = parts
  }

  /** Finds out how many results there will be; a filter that cannot be read is the problem of the answer. */
  async begin(request: ValidationRequest): Promise<Begun> {
    const { what } = request
    try {
      const { count = 0, run = NOTHING, problem } = await this.#planned(request)
      const begun = { type: 'validation-begun', what, count, problem } as const
      return { begun, run: (tell, isOver) => this.#gate.run(() => run(tell, isOver)) }
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
      const begun = { type: 'validation-begun', what, count: 0, problem: error.message } as const
      return { begun, run: NOTHING }
    }
  }

  async #planned(request: ValidationRequest): Promise<Plan> {
    switch (request.what) {
      case 'controller-dialers':
        // Routers dial this controller, and never the other way round.
        return { problem: `${this.#parts.controllerId}: controller dialer is not enabled` }
      case 'terminators': {
        const { fix, expected } = request
        const { items, hosts } = await this.#storedFor(request)
        return {
          count: items.length,
          run: (tell, isOver) => {
            // A program is done once it has heard of the last terminator.
            for (const other of compareCounts(items, expected, hosts)) tell({ what: 'host-count', ...other })
            return this.#parts.terminators.compare(items, fix, tell, isOver)
          },
        }
      }
      default: {
        const routers = await this.#routersFor(request.filter)
        const isOfController = request.what === 'data-model' && request.withController
        const run: Run = async (tell, isOver) => {
          if (isOfController) tell(this.#controllerModel())
          const turns = new Gate(ROUTERS_AT_ONCE)
          const compare = (view: RouterView) =>
            turns.run(async () => void (isOver() || tell(await this.#of(request.what, view))))
          await Promise.all(routers.map(compare))
        }
        return { count: routers.length + (isOfController ? 1 : 0), run }
      }
    }
  }

  /** The terminators that are asked for, and the identities whose number of them is. */
  async #storedFor({ filter, expected }: Extract<ValidationRequest, { readonly what: 'terminators' }>) {
    const query = queryOf(filter, terminators.symbols)
    const ofHosts = queryOf(expected.hosts || NO_ADMINISTRATORS, identities.symbols)
    return this.#parts.context.storage.read(async (tx) => {
      const { items } = await tx.collection(terminators).find(query)
      if (expected.perHost === 0) return { items, hosts: [] }
      const found = await tx.collection(identities).find(ofHosts)
      return { items, hosts: found.items.map(({ id }) => id) }
    })
  }

  async #routersFor(filter: string): Promise<readonly RouterView[]> {
    const query = queryOf(filter, ROUTER_SYMBOLS)
    const { storage, presence } = this.#parts.context
    const views = await storage.read((tx) => allRouters(tx, presence))
    return pageOf(views.map(filteredRouter), query).items.map(({ view }) => view)
  }

  async #of(what: Exclude<ValidationRequest['what'], 'terminators' | 'controller-dialers'>, view: RouterView) {
    const { comparisons, routers, asked } = this.#parts
    if (what === 'data-model') return this.#routerModel(view)
    const router = routers.get(view.router.id)
    const names = comparisons.namesFor(what)
    const offline = { errors: [`router ${view.router.id} is not connected`], values: [] }
    const answer = router === undefined ? offline : await asked.ask(router, names)
    const values = new Map(answer.values.map(({ name, value }) => [name, value]))
    const problem = names.some((name) => values.has(name))
      ? undefined
      : answer.errors.join(',') || 'the router tells nothing'
    return comparisons.compare(what, view.router, values, problem)
  }

  /** The model of this process follows the store by its revisions: there is nothing beside it to compare. */
  #controllerModel(): Validated {
    const { controllerId } = this.#parts
    const about = { componentType: 'controller', componentId: controllerId, componentName: controllerId } as const
    return { what: 'data-model', ...about, success: true, errors: [] }
  }

  async #routerModel({ router }: RouterView): Promise<Validated> {
    const about = { componentType: 'router', componentId: router.id, componentName: router.name } as const
    try {
      const { differences } = await this.#parts.model.validate(router.id)
      const errors = differences.map(
        ({ entityType, entityId, kind, detail }) => `${entityType} id: ${entityId} ${kind}, detail: ${detail}`,
      )
      return { what: 'data-model', ...about, success: errors.length === 0, errors }
    } catch (error) {
      return {
        what: 'data-model',
        ...about,
        success: false,
        errors: [error instanceof Error ? error.message : 'failed'],
      }
    }
  }
}

/** Reads a filter in the language of lists; an empty one, and one without a limit, is about all. */
function queryOf(text: string, symbols: SymbolTable): Omit<Query, 'limit'> & { readonly limit?: number } {
  const linked = (kind: string) => resourceNamed(kind).symbols
  const { limit, ...query } = parseQuery(text, symbols, linked)
  return typeof limit === 'number' && limit >= 0 ? { ...query, limit } : query
}
