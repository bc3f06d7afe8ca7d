import { Gate } from '../../concurrency/gate.ts'
import type { EngineContext } from '../../context/context.ts'
import type { InspectedValue } from '../../facts/fabric/messages/index.ts'
import type { InspectionRequest, InspectionResult } from '../../facts/fabric/rules/index.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../../facts/routers/transit-router.resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'
import type { RouterInspections } from '../channels/router-inspections.ts'
import type { ControllerValues } from './controller-values.ts'

/** Inspections at once: each may ask every router, and keeps the answers. */
const MOST_AT_ONCE = 4
/** Routers that are asked at once in one inspection. */
const ROUTERS_AT_ONCE = 64
/** Characters of all answers of one inspection; an answer beyond them becomes an error. */
const MOST_CHARACTERS = 67_108_864

/** Asks routers and the controller for values of their state, and collects the answers. */
export class Inspections {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #controller: ControllerValues
  readonly #asked: RouterInspections
  readonly #gate = new Gate(MOST_AT_ONCE)

  constructor(
    context: EngineContext,
    routers: ConnectedRouters,
    controller: ControllerValues,
    asked: RouterInspections,
  ) {
    this.#context = context
    this.#routers = routers
    this.#controller = controller
    this.#asked = asked
  }

  /** Asks all whose id or name fits the pattern. A value that could not be asked for is an error of the result. */
  async inspect(request: InspectionRequest): Promise<InspectionResult> {
    return this.#gate.run(async () => {
      const { appRegex, requestedValues } = request
      const collected = new Collected()
      const problem = await this.#context.jsonSchema.problemOf(patternSchema(appRegex))
      if (problem !== undefined) {
        collected.add(this.#controller.id, { errors: [`appRegex is no pattern: ${problem}`], values: [] })
        return collected
      }
      if (await this.#fits(appRegex, this.#controller.id)) {
        collected.add(this.#controller.id, await this.#controller.valuesOf(requestedValues))
      }
      const turns = new Gate(ROUTERS_AT_ONCE)
      const matching = await this.#matching(appRegex)
      await Promise.all(
        matching.map((router) =>
          turns.run(async () => collected.add(router.id, await this.#asked.ask(router, requestedValues))),
        ),
      )
      return collected
    })
  }

  async #matching(appRegex: string): Promise<readonly ConnectedRouter[]> {
    const connected = this.#routers.all()
    const where = ids(connected.map(({ id }) => id))
    const names = await this.#context.storage.read(async (tx) => {
      const edge = await tx.collection(edgeRouters).find({ where })
      const transit = await tx.collection(transitRouters).find({ where })
      return new Map([...edge.items, ...transit.items].map(({ id, name }) => [id, name]))
    })
    const matching: ConnectedRouter[] = []
    for (const router of connected) {
      const fits = (await this.#fits(appRegex, router.id)) || (await this.#fits(appRegex, names.get(router.id) ?? ''))
      if (fits) matching.push(router)
    }
    return matching
  }

  async #fits(pattern: string, name: string): Promise<boolean> {
    return (await this.#context.jsonSchema.violationOf(patternSchema(pattern), name)) === undefined
  }
}

/** JSON schemas match patterns in linear time for any request. */
function patternSchema(pattern: string) {
  return { type: 'string', pattern }
}

/** The answers of one inspection as they come in. */
class Collected implements InspectionResult {
  readonly errors: string[] = []
  readonly values: { readonly appId: string; readonly name: string; readonly value: string }[] = []
  #characters = 0

  add(appId: string, answer: { readonly errors: readonly string[]; readonly values: readonly InspectedValue[] }): void {
    for (const error of answer.errors) this.errors.push(`${appId}: ${error}`)
    for (const { name, value } of answer.values) {
      this.#characters += value.length
      if (this.#characters <= MOST_CHARACTERS) this.values.push({ appId, name, value })
      else this.errors.push(`${appId}: ${name} is left out, because the answers are longer than 64 MiB`)
    }
  }
}
