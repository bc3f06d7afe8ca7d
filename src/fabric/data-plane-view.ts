import type { Call } from '../kernel/context/call.ts'
import type {
  CircuitView,
  DataPlaneFigures,
  DataPlaneView,
  LinkChange,
  ModelComparison,
} from '../kernel/context/context.ts'
import type { OperatorChannel, OperatorSession } from '../ports/fabric/index.ts'
import type { FabricParts } from './assemble-fabric.ts'
import {
  dynamicCost,
  type InspectionRequest,
  type InspectionResult,
  type Link,
  UNKNOWN_LATENCY_MS,
} from './rules/index.ts'

/** The data plane of this process as operators see it, and what they may do to it. */
export class FabricView implements DataPlaneView {
  readonly #parts: FabricParts

  constructor(parts: FabricParts) {
    this.#parts = parts
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

  circuits(): readonly CircuitView[] {
    return this.#parts.circuits.all().map(({ id, client, serviceId, terminatorId, course, tags, createdAt }) => ({
      id,
      clientId: client.identityId,
      sessionId: client.sessionId,
      serviceId,
      terminatorId,
      path: course.path,
      tags: Object.fromEntries(tags),
      createdAt,
    }))
  }

  dynamicCostOf(terminatorId: string): number {
    return dynamicCost(this.#parts.circuits.useOf(terminatorId), this.#parts.context.clock.now())
  }

  cutLink(id: string): boolean {
    return this.#parts.links.cut(id)
  }

  changeLink(id: string, change: LinkChange): boolean {
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

  endCircuit(id: string, immediate: boolean): boolean {
    const circuit = this.#parts.circuits.get(id)
    if (circuit !== undefined) this.#parts.ends.end(circuit, 'removed', immediate)
    return circuit !== undefined
  }
}
