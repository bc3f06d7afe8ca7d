import { assumedRouterPolicies, type Model, type Network, requireLinks } from '../model/index.ts'
import { checkAssertions } from './check-assertions.ts'
import type { TestResult } from './check-invariant.ts'
import { coverageOf } from './coverage.ts'
import type { NetworkDoor } from './network-door.ts'
import { readNetwork } from './read-network.ts'
import { createScratchController, type OtherEntity, tryOut } from './scratch-controller.ts'

/**
 * Tries the assertions of a model on a controller in memory that has the network of the model and nothing else. A model without edge
 * routers gets an edge router that everybody may use. Rejects with `ModelError` for a model that a controller would refuse.
 *
 * @example
 * const result = await testModel(await readModel('network.yaml'))
 * if (result.failed > 0) console.log(testText(result))
 */
export async function testModel(model: Model): Promise<TestResult> {
  const scratch = await createScratchController()
  try {
    const notes: string[] = []
    const network = await tryOut(
      scratch.door,
      withKnownLinks(model, await readNetwork(scratch.door)),
      routersFor(model, notes),
    )
    return withCoverage(await checkAssertions(scratch.door, model.assertions, network, notes), network)
  } finally {
    await scratch.close()
  }
}

/**
 * The network of a model as a controller keeps it, for a graph of it. Rejects with `ModelError` for a model that a controller would refuse.
 *
 * @example
 * console.log(mermaid(accessGraph(await modelNetwork(await readModel('network.yaml')))))
 */
export async function modelNetwork(model: Model): Promise<Network> {
  const scratch = await createScratchController()
  try {
    const known = withKnownLinks(model, await readNetwork(scratch.door))
    return await tryOut(scratch.door, known, assumedRouterPolicies(model))
  } finally {
    await scratch.close()
  }
}

/** Tries the assertions of a model on a network as it is now. The entities of the model are not looked at. */
export async function testNetwork(door: NetworkDoor, { assertions }: Pick<Model, 'assertions'>): Promise<TestResult> {
  const network = await readNetwork(door)
  return withCoverage(await checkAssertions(door, assertions, network), network)
}

function withCoverage(result: TestResult, network: Network): TestResult {
  return { ...result, coverage: coverageOf(network, result.cases) }
}

function withKnownLinks(model: Model, builtIn: Network): Model {
  requireLinks(model, builtIn.entities)
  return model
}

/** A model without routers is about policies and posture alone. */
function routersFor(model: Model, notes: string[]): readonly OtherEntity[] {
  const policies = assumedRouterPolicies(model)
  if (policies.length === 0 || model.listed.has('edgeRouters')) return policies
  notes.push('the model has no edge routers: a router that everybody may use is assumed')
  const name = 'any edge router'
  return [{ key: 'edgeRouters', name, body: { name } }, ...policies]
}
