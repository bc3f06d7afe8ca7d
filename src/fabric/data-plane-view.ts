import type { Call } from '../kernel/context/call.ts'
import type { CircuitView, DataPlaneView, LinkChange, ModelComparison } from '../kernel/context/context.ts'
import type { OperatorChannel, OperatorSession } from '../ports/fabric/index.ts'
import type { FabricParts } from './assemble-fabric.ts'
import { dynamicCost, type InspectionRequest, type InspectionResult, type Link } from './rules/index.ts'

/** The data plane of this process as operators see it, and what they may do to it. */
export class FabricView implements DataPlaneView {
  readonly #parts: FabricParts

  constructor(parts: FabricParts) {
    this.#parts = parts
  }

  links(): readonly Link[] {
    return this.#parts.network.all()
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
