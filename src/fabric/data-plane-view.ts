import type { Call } from '../context/call.ts'
import type { DataPlaneFigures, DataPlaneView, LinkChange, ModelComparison } from '../context/context.ts'
import type { DialFailure, ServiceReach } from '../facts/access/explain/service-reach.rules.ts'
import type { CircuitQuestion, CircuitView, OperatorChannel, OperatorSession } from '../facts/fabric/messages/index.ts'
import {
  type DialTrace,
  dynamicCost,
  type InspectionRequest,
  type InspectionResult,
  type Link,
  UNKNOWN_LATENCY_MS,
} from '../facts/fabric/rules/index.ts'
import type { services } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { FabricParts } from './assemble-fabric.ts'
import type { DialQuestion } from './circuits/dial-traces.ts'
import type { Holders } from './processes/holders.ts'

/** The data plane as operators see it, circuits of other processes included, and their operations on it. */
export class FabricView implements DataPlaneView {
  readonly #parts: FabricParts
  readonly #holders: Holders

  constructor(parts: FabricParts, holders: Holders) {
    this.#parts = parts
    this.#holders = holders
  }

  links(): readonly Link[] {
    return this.#parts.network.all()
  }

  figures(): DataPlaneFigures {
    const { circuits, network, model } = this.#parts
    const links = network.all().filter(({ isDown }) => !isDown)
    const measured = links.map(({ sourceLatencyMs, targetLatencyMs }) => Math.max(sourceLatencyMs, targetLatencyMs))
    const known = measured.filter((latency) => latency < UNKNOWN_LATENCY_MS)
    const sum = known.reduce((total, latency) => total + latency, 0)
    const max = known.reduce((greatest, latency) => Math.max(greatest, latency), 0)
    const latency = known.length === 0 ? undefined : { mean: sum / known.length, max }
    return { openCircuits: circuits.size, links: links.length, latency, routersBehind: model.countBehind() }
  }

  async circuits(question: CircuitQuestion): Promise<readonly CircuitView[]> {
    const own = this.#parts.circuits.views(question)
    if (question.circuitId !== undefined && own.length > 0) return own
    const ofOthers = await this.#holders.circuits(question)
    return [...own, ...ofOthers].sort((left, right) => left.createdAt - right.createdAt)
  }

  reach(tx: ReadTransaction, service: RecordOf<typeof services>, routerIds: readonly string[]): Promise<ServiceReach> {
    return this.#parts.choice.reach(tx, service, routerIds)
  }

  lastFailure(identityId: string, serviceId: string): DialFailure | undefined {
    return this.#parts.failures.of(identityId, serviceId)
  }

  async nextDial(question: DialQuestion, waitMs: number, asker: string): Promise<DialTrace | undefined> {
    const own = this.#parts.traces.follow(question, waitMs, asker)
    const others = this.#holders.followDial(question, waitMs)
    const first = await Promise.race([own.trace, others.trace])
    const trace = first ?? (await own.trace) ?? (await others.trace)
    own.end()
    others.end()
    return trace
  }

  dynamicCostOf(terminatorId: string): number {
    return dynamicCost(this.#parts.circuits.useOf(terminatorId), this.#parts.context.clock.now())
  }

  cutLink(id: string): boolean {
    return this.#parts.links.cut(id)
  }

  changeLink(id: string, change: LinkChange): boolean {
    this.#holders.changeLink(id, change)
    return this.#parts.links.change(id, change)
  }

  validateModel(routerId: string): Promise<ModelComparison> {
    return this.#parts.modelValidation.validate(routerId)
  }

  inspect(request: InspectionRequest): Promise<InspectionResult> {
    return this.#parts.inspections.inspect(request)
  }

  openOperatorSession(call: Call, channel: OperatorChannel): OperatorSession {
    return this.#parts.operators.open(call, channel)
  }

  async endCircuit(id: string, immediate: boolean): Promise<boolean> {
    const circuit = this.#parts.circuits.get(id)
    if (circuit === undefined) return this.#holders.endCircuit(id, immediate)
    this.#parts.ends.end(circuit, 'removed', immediate)
    return true
  }
}
