import type { GraphEntity, MatrixCell } from '../../resources/access/graph-answers.ts'
import type { EngineContext } from '../context/context.ts'

/** For how many services at once it is worked out what an identity may do. */
const SERVICES_AT_ONCE = 50

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
  const pieces = Array.from({ length: Math.ceil(serviceIds.length / SERVICES_AT_ONCE) }, (_, n) => n * SERVICES_AT_ONCE)
  for (const [identity, { id }] of identities.entries()) {
    for (const from of pieces) {
      const some = index.separateGrantsOf(id, serviceIds.slice(from, from + SERVICES_AT_ONCE))
      for (const [place, grants] of some.entries()) {
        const service = from + place
        for (const type of ['Dial', 'Bind'] as const) {
          const granting = grants.filter((grant) => grant.type === type)
          if (granting.length === 0) continue
          const isGuarded = granting.every(({ checks }) => checks.length > 0)
          cells.push({ identity, service, type, policyCount: granting.length, isGuarded })
        }
      }
      await turn()
    }
  }
  return cells
}
