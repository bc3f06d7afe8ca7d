import { ids } from '../../domain/filter/index.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { edgeRouters } from '../../resources/edge-routers.ts'
import type { EntityRef } from '../../resources/fields.ts'
import { identities } from '../../resources/identities.ts'
import { services } from '../../resources/services.ts'
import { transitRouters } from '../../resources/transit-routers.ts'

/** How the fabric API refers to what has a name. */
export interface References {
  router(id: string): EntityRef
  service(id: string): EntityRef
  identity(id: string): EntityRef
}

/** The references of everything that is shown at once, with the names of now. */
export async function referencesTo(
  engine: ControllerEngine,
  shown: {
    readonly routers: Iterable<string>
    readonly services?: Iterable<string>
    readonly identities?: Iterable<string>
  },
): Promise<References> {
  const names = await engine.context.storage.read(async (tx) => {
    const routers = ids(new Set(shown.routers))
    const found = await Promise.all([
      tx.collection(edgeRouters).find({ where: routers }),
      tx.collection(transitRouters).find({ where: routers }),
      tx.collection(services).find({ where: ids(new Set(shown.services)) }),
      tx.collection(identities).find({ where: ids(new Set(shown.identities)) }),
    ])
    return new Map(found.flatMap(({ items }) => items.map(({ id, name }) => [id, name] as const)))
  })
  const refer = (entity: string) => (id: string) => referenceTo(entity, id, names.get(id) ?? '')
  return { router: refer('routers'), service: refer('services'), identity: refer('identities') }
}

/** A reference to an entity below the base of the API. */
export function referenceTo(entity: string, id: string, name: string): EntityRef {
  return { _links: { self: { href: `./${entity}/${id}` } }, entity, id, name }
}
