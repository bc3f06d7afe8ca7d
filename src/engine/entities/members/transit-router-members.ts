import type { transitRouters } from '../../../resources/transit-routers.ts'
import type { DeriveMembers } from './render.ts'
import { routerEnrollmentMembers } from './router-enrollment-members.ts'

/** Presence of routers and, until they are verified, their enrollment (interface: Router). */
export const transitRouterMembers: DeriveMembers<typeof transitRouters> = async (context, tx, _call, records) => {
  const outstanding = await routerEnrollmentMembers(tx, 'transitRouterId', records)
  return records.map(({ id }) => ({
    interfaces: null,
    isOnline: context.presence.connectionOf(id) !== undefined,
    ...outstanding.get(id),
  }))
}
