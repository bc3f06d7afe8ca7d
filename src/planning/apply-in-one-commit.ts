import type { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import { engineWithin } from '../engine/store-engine.ts'
import { type AppliedModel, ModelError, type ModelInput } from '../model/index.ts'
import { StorageUnavailable } from '../ports/record-storage.ts'
import { engineDoor } from './engine-door.ts'
import { AssertionsFailed, carryOut, type PlanOptions, planFor } from './plan-model.ts'
import { readModelBy } from './read-model.ts'

/** Attempts while other processes write. A storage waits some seconds for each. */
const MOST_ATTEMPTS = 12

/**
 * Applies a model to the network of an engine: all of it in one commit, or nothing. Processes over one store take turns, and a network that
 * is as the model has it is not written to. Rejects as `planModel` and `applyPlan` of `portcullis/model` do.
 */
export async function applyInOneCommit(
  engine: ControllerEngine,
  input: ModelInput,
  options: PlanOptions,
): Promise<AppliedModel> {
  const model = await readModelBy(
    async (file) => {
      // Platforms that run a controller from one file load no module by a computed name.
      throw ModelError.ofFile(file, 'is a program: import it, and give its default export as the model')
    },
    [input],
  )
  const revision = () => contextOf(engine).storage.read(async (tx) => tx.revision)
  const before = await revision()
  let plan = await planFor(engineDoor(engine), model, options)
  if (plan.assertions.failed > 0) throw new AssertionsFailed(plan.assertions)
  // Pages were read one after the other: they fit together where nothing was written meanwhile.
  if (plan.changes.length > 0 || (await revision()) !== before) {
    await withPatience(() =>
      contextOf(engine).writes.together(async (tx, writes) => {
        const door = engineDoor(engineWithin(engine, tx, writes))
        if (tx.revision !== before) plan = await planFor(door, model, options)
        await carryOut(door, plan)
      }),
    )
  }
  const { changes, unchanged, access } = plan
  return { changes, unchanged, access }
}

/** Other processes that apply a model hold the write for longer than a storage waits. */
async function withPatience(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const isBusy = error instanceof StorageUnavailable && error.reason === 'busy'
      if (!isBusy || attempt === MOST_ATTEMPTS) throw error
    }
  }
}
