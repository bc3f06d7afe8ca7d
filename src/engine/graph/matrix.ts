import type { GraphEntity, MatrixCell } from '../../resources/access/graph-answers.ts'
import type { EngineContext } from '../context/context.ts'

/** The cells of some identities and some services that are not empty. */
export async function cellsOf(
  { storage, access, turns }: EngineContext,
  identities: readonly GraphEntity[],
  services: readonly GraphEntity[],
): Promise<readonly MatrixCell[]> {
  const serviceIds = services.map(({ id }) => id)
  const index = await storage.read((tx) => access.at(tx))
  const turn = turns.begin()
  const cells: MatrixCell[] = []
  for (const [identity, { id }] of identities.entries()) {
    for (const [service, grants] of index.separateGrantsOf(id, serviceIds).entries()) {
      for (const type of ['Dial', 'Bind'] as const) {
        const granting = grants.filter((grant) => grant.type === type)
        if (granting.length === 0) continue
        const isGuarded = granting.every(({ checks }) => checks.length > 0)
        cells.push({ identity, service, type, policyCount: granting.length, isGuarded })
      }
    }
    await turn()
  }
  return cells
}
