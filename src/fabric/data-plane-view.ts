import type { DataPlaneFigures, DataPlaneView } from '../context/context.ts'
import { dynamicCost, UNKNOWN_LATENCY_MS } from '../facts/fabric/rules/index.ts'
import type { FabricParts } from './assemble-fabric.ts'
import type { Holders } from './processes/holders.ts'

/** The data plane as operators see it, circuits of other processes included, and their operations on it. */
export function fabricView(parts: FabricParts, holders: Holders): DataPlaneView {
  const { context, network, choice, failures, traces, links, modelValidation, inspections, operators, ends } = parts
  return {
    links: () => network.all(),
    figures: () => figuresOf(parts),
    async circuits(question) {
      const own = parts.circuits.views(question)
      if (question.circuitId !== undefined && own.length > 0) return own
      const ofOthers = await holders.circuits(question)
      return [...own, ...ofOthers].sort((left, right) => left.createdAt - right.createdAt)
    },
    reach: (tx, service, routerIds) => choice.reach(tx, service, routerIds),
    lastFailure: (identityId, serviceId) => failures.of(identityId, serviceId),
    async nextDial(question, waitMs, asker) {
      const own = traces.follow(question, waitMs, asker)
      const others = holders.followDial(question, waitMs)
      const first = await Promise.race([own.trace, others.trace])
      const trace = first ?? (await own.trace) ?? (await others.trace)
      own.end()
      others.end()
      return trace
    },
    dynamicCostOf: (terminatorId) => dynamicCost(parts.circuits.useOf(terminatorId), context.clock.now()),
    cutLink: (id) => links.cut(id),
    changeLink(id, change) {
      holders.changeLink(id, change)
      return links.change(id, change)
    },
    validateModel: (routerId) => modelValidation.validate(routerId),
    inspect: (request) => inspections.inspect(request),
    openOperatorSession: (call, channel) => operators.open(call, channel),
    async endCircuit(id, immediate) {
      const circuit = parts.circuits.get(id)
      if (circuit === undefined) return holders.endCircuit(id, immediate)
      ends.end(circuit, 'removed', immediate)
      return true
    },
  }
}

function figuresOf({ circuits, network, model }: FabricParts): DataPlaneFigures {
  const links = network.all().filter(({ isDown }) => !isDown)
  const measured = links.map(({ sourceLatencyMs, targetLatencyMs }) => Math.max(sourceLatencyMs, targetLatencyMs))
  const known = measured.filter((latency) => latency < UNKNOWN_LATENCY_MS)
  const sum = known.reduce((total, latency) => total + latency, 0)
  const max = known.reduce((greatest, latency) => Math.max(greatest, latency), 0)
  const latency = known.length === 0 ? undefined : { mean: sum / known.length, max }
  return { openCircuits: circuits.size, links: links.length, latency, routersBehind: model.countBehind() }
}
