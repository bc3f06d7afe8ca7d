import { edgeRouters } from '../../resources/edge-routers.ts'
import type { transitRouters } from '../../resources/transit-routers.ts'
import { checkAttachedConfigs } from '../configs/attached-configs.ts'
import type { ResourceHooks } from '../records/resource-hooks.ts'
import { refuseTakenName } from '../records/unique-fields.ts'
import { prepareRouter } from './router-preparation.ts'

/** Routers are created with an enrollment, and share their names with edge routers (interface: Router). */
export const transitRouterHooks: ResourceHooks<typeof transitRouters> = {
  prepareCreate: (context, _call, { id, now }) => prepareRouter(context, { method: 'trott', transitRouterId: id }, now),

  async guard(_context, tx, _call, { before, after }) {
    if (after === undefined) return after
    await refuseTakenName(tx, edgeRouters, after.name)
    await checkAttachedConfigs(tx, 'router', before, after)
    return after
  },
}
