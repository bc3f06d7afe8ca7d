import { checkOptions, type OptionRules } from '../../../src/domain/arguments/check-options.ts'
import {
  type AccessDifference,
  accessDifference,
  entityDifference,
  type Model,
  type Network,
  type NetworkEntity,
  NetworkView,
  type PlannedChange,
  pruned,
  requireLinks,
} from '../../../src/model/index.ts'
import { applyChanges, ChangeRefused, type Progress } from '../controller/apply-changes.ts'
import type { AdminOptions } from '../controller/connection.ts'
import { readNetwork } from '../controller/read-network.ts'
import { createScratchController } from '../controller/scratch-controller.ts'
import { refusalIn, tryOut } from '../controller/try-out.ts'
import { checkAssertions } from '../testing/check-assertions.ts'
import type { TestResult } from '../testing/test-result.ts'
import { othersToTry } from './others-to-try.ts'

/** How a model is compared with a controller. */
export interface PlanOptions {
  /** True to delete what the model does not hold, of the kinds of which it holds any. */
  readonly prune?: boolean
  /** How many of the pairs that gain or lose access are named at most; all are counted. 1000 by default. */
  readonly accessLimit?: number
}

const PLAN_OPTIONS: OptionRules<PlanOptions> = { prune: 'boolean', accessLimit: 'number' }

/** What applying a model would do. */
export interface Plan {
  readonly model: Model
  /** The network that it was made for. */
  readonly current: Network
  /** In the order in which they would be made. */
  readonly changes: readonly PlannedChange[]
  /** How many entities of the model are there already as it has them. */
  readonly unchanged: number
  /** Who would gain and lose access, posture aside. */
  readonly access: AccessDifference
  /** The assertions of the model, held against the network as it would be. A plan with failures is not applied. */
  readonly assertions: TestResult
}

/**
 * Works out what applying a model to a controller would change: entity by entity, and who would gain and lose access. The
 * assertions of the model are tried on the network as it would be. Nothing is written.
 *
 * Rejects with `ModelError` for a reference to what is nowhere, for what the controller would refuse, and for a change of
 * what is settled at creation; with `ApiError` when the controller refuses to be read.
 *
 * @example
 * const plan = await planModel(admin, await readModel('network.yaml'))
 * console.log(planText(plan))
 */
export async function planModel(options: AdminOptions, model: Model, plan: PlanOptions = {}): Promise<Plan> {
  checkOptions('planModel', plan, PLAN_OPTIONS)
  const current = await readNetwork(options)
  const prune = plan.prune === true ? { isProtected: isProtected(current) } : undefined
  const leaving = new Set((prune === undefined ? [] : pruned(model, current, prune.isProtected)).map(known))
  const staying = current.entities.filter((entity) => !leaving.has(known(entity)))
  const names = new Set(staying.map(known))
  requireLinks(model, (key, name) => names.has(known({ key, name })))
  const scratch = await createScratchController()
  try {
    const desired = await tryOut(scratch.options, model, othersToTry(model, staying))
    const { changes, unchanged } = entityDifference(model, current, desired, prune)
    const before = new NetworkView(current)
    const access = accessDifference(before, new NetworkView(current, changes), plan.accessLimit ?? 1000)
    const assertions = await checkAssertions(scratch.options, model.assertions, desired)
    return { model, current, changes, unchanged, access, assertions }
  } finally {
    await scratch.close()
  }
}

function known({ key, name }: { readonly key: string; readonly name: string }): string {
  return `${key} ${name}`
}

/** What nobody may lose by an oversight: the default auth policy, identities of routers, and the last way in. */
function isProtected(current: Network): (entity: NetworkEntity) => boolean {
  const hasKeptAdmin = current.all('identities').some(({ isKept, body }) => isKept && body.isAdmin === true)
  return ({ key, id, body }) =>
    (key === 'authPolicies' && id === 'default') ||
    (key === 'identities' && (body.type === 'Router' || (body.isAdmin === true && !hasKeptAdmin)))
}

/** The assertions of a model would fail in the network as it would be: nothing was changed. */
export class AssertionsFailed extends Error {
  readonly result: TestResult

  constructor(result: TestResult) {
    super(`${result.failed} of ${result.cases.length} assertions would fail`)
    this.name = 'AssertionsFailed'
    this.result = result
  }
}

/**
 * Makes the changes of a plan. Rejects with {@link AssertionsFailed} before the first change when an assertion would fail,
 * and with `ModelError` or `ChangeRefused` when the controller refuses one; what is made by then stays, and planning again
 * shows the rest. Applying what was applied changes nothing.
 *
 * @example
 * await applyPlan(admin, plan, ({ done, total }) => console.log(`${done} of ${total}`))
 */
export async function applyPlan(
  options: AdminOptions,
  { model, current, changes, assertions }: Plan,
  onProgress?: (progress: Progress) => void,
): Promise<void> {
  if (assertions.failed > 0) throw new AssertionsFailed(assertions)
  try {
    await applyChanges(options, current, changes, onProgress)
  } catch (error) {
    throw error instanceof ChangeRefused ? refusalIn(model, error) : error
  }
}

/**
 * Plans a model and applies the plan; answers what was done. Rejects as {@link planModel} and {@link applyPlan} do.
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
