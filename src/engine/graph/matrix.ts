import type { GraphEntity, MatrixCell } from '../../resources/access/graph-answers.ts'
import type { EngineContext } from '../context/context.ts'
import type { Partition } from './partition.ts'

/** The cells of some identities and some services that are not empty. */
export async function cellsOf(
  { storage, access, turns }: EngineContext,
  partition: Partition,
  identities: readonly GraphEntity[],
  services: readonly GraphEntity[],
): Promise<readonly MatrixCell[]> {
  const guarded = new Set(partition.policies.flatMap(({ id, isGuarded }) => (isGuarded ? [id] : [])))
  const serviceIds = services.map(({ id }) => id)
  const index = await storage.read((tx) => access.at(tx))
  const turn = turns.begin()
  const cells: MatrixCell[] = []
  for (const [identity, { id }] of identities.entries()) {
    for (const [service, granting] of index.grantingPoliciesOf(id, serviceIds).entries()) {
      for (const type of ['Dial', 'Bind'] as const) {
        const policies = granting.filter((policy) => index.typeOf(policy) === type)
        if (policies.length === 0) continue
        const isGuarded = policies.every((policy) => guarded.has(policy))
        cells.push({ identity, service, type, policyCount: policies.length, isGuarded })
      }
    }
    await turn()
  }
  return cells
}
