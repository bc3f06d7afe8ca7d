import { edgeRouters } from '../../resources/edge-routers.ts'
import { type TransitRouters, transitRouters } from '../../resources/transit-routers.ts'
import type { DetailOf } from '../../resources/wire-forms.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { EntityReader } from './entity-reader.ts'

/**
 * The router of an id as a transit router is shown, whichever kind it is: terminators link to every router in that way.
 * Error: `NOT_FOUND`.
 */
export async function showAnyRouter(
  context: EngineContext,
  reader: EntityReader,
  call: Call,
  id: string,
): Promise<DetailOf<TransitRouters>> {
  const edgeRouter = await context.storage.read((tx) => tx.collection(edgeRouters).get(id))
  if (edgeRouter === undefined) return reader.get(call, transitRouters, id)
  const { appData, isTunnelerEnabled, roleAttributes, ...router } = edgeRouter
  return reader.show(call, transitRouters, router)
}
