import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { type TransitRouters, transitRouters } from '../../resources/routers/transit-routers.ts'
import { checkAttachedConfigs } from '../configs/attached-configs.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { refuseTakenName } from '../records/unique-fields.ts'
import { inviteRouter, outstandingEnrollments } from './outstanding-enrollment.ts'
import { interfacesOf } from './presence-members.ts'

/** Routers are created with an enrollment, and share their names with edge routers. */
export const transitRouterBehaviour: Behaviour<TransitRouters> = {
  resource: transitRouters,

  async prepare(context, _call, { kind, id, now }) {
    return kind === 'create' ? inviteRouter(context, { method: 'trott', transitRouterId: id }, now) : undefined
  },

  async guard(_context, tx, _call, { before, after }) {
    if (after === undefined) return after
    await refuseTakenName(tx, edgeRouters, after.name)
    await checkAttachedConfigs(tx, 'router', before, after)
    return after
  },

  /** Presence and, until a router is verified, its enrollment. */
  async members(context, tx, call, records) {
    const presence = await context.presence.at(tx)
    const outstanding = await outstandingEnrollments(tx, call, 'transitRouterId', records)
    return records.map(({ id }) => ({
      interfaces: interfacesOf(presence, id),
      isOnline: presence.connectionOf(id) !== undefined,
      ...outstanding.get(id),
    }))
  },
}
