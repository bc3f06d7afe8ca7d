import { checkOptions } from '../../../src/base/arguments.ts'
import type { Model, Network } from '../../../src/model/index.ts'
import {
  carryOut,
  PLAN_OPTIONS,
  type Plan,
  type PlanOptions,
  type Progress,
  planFor,
  readNetworkOf,
  type TestResult,
  testNetwork,
} from '../../../src/planning/index.ts'
import { type AdminOptions, Connection } from './model-connection.ts'

/**
 * Computes the changes of applying a model to a controller: entity by entity, with the access that identities would gain and lose. The
 * assertions of the model are tried on the network as it would be. Nothing is written.
 *
 * Rejects with `ModelError` for a reference to a missing entity, for an entity that the controller would refuse, and for a change of a
 * member that is fixed at creation; with `ApiError` when the controller refuses to be read.
 *
 * @example
 * const plan = await planModel(admin, await readModel('network.yaml'))
 * console.log(planText(plan))
 */
export async function planModel(options: AdminOptions, model: Model, plan: PlanOptions = {}): Promise<Plan> {
  checkOptions('planModel', plan, PLAN_OPTIONS)
  return planFor(new Connection(options), model, plan)
}

/**
 * Makes the changes of a plan. Rejects with `AssertionsFailed` before the first change when an assertion would fail, and with
 * `ModelError` or `ChangeRefused` when the controller refuses one; earlier changes stay, and planning again shows the rest. Applying a plan
 * twice changes nothing more.
 *
 * @example
 * await applyPlan(admin, plan, ({ done, total }) => console.log(`${done} of ${total}`))
 */
export async function applyPlan(
  options: AdminOptions,
  plan: Plan,
  onProgress?: (progress: Progress) => void,
): Promise<void> {
  await carryOut(new Connection(options), plan, onProgress)
}

/**
 * Plans a model and applies the plan; answers the changes that were made. Rejects as {@link planModel} and {@link applyPlan} do. A
 * controller in the same process takes a model in one commit: `controller.apply(model)`.
 *
 * @example
 * await applyModel(admin, await readModel('network.yaml'))
 */
export async function applyModel(
  options: AdminOptions,
  model: Model,
  plan: PlanOptions & { readonly onProgress?: (progress: Progress) => void } = {},
): Promise<Plan> {
  checkOptions('applyModel', plan, { ...PLAN_OPTIONS, onProgress: 'function' })
  const { onProgress, ...asked } = plan
  const planned = await planModel(options, model, asked)
  await applyPlan(options, planned, onProgress)
  return planned
}

/**
 * Reads all entities of the kinds of a model from a controller. Entities are in the form of a model file; references are names. Rejects
 * with `ApiError` when the controller refuses.
 *
 * @example
 * const network = await readNetwork({ baseUrl: 'https://localhost:1280', token })
 */
export async function readNetwork(options: AdminOptions): Promise<Network> {
  return readNetworkOf(new Connection(options))
}

/**
 * Tries the assertions of a model on a controller that runs, as it is now. The entities of the model are not looked at.
 *
 * @example
 * const result = await testController(admin, await readModel('assertions.yaml'))
 */
export async function testController(options: AdminOptions, model: Pick<Model, 'assertions'>): Promise<TestResult> {
  return testNetwork(new Connection(options), model)
}
