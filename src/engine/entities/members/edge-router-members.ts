import type { RouterPresence } from '../../../ports/router-presence.ts'
import type { edgeRouters } from '../../../resources/edge-routers.ts'
import type { DeriveMembers } from './render.ts'
import { routerEnrollmentMembers } from './router-enrollment-members.ts'

const UNKNOWN_VERSION = { arch: '', buildDate: '', os: '', revision: '', version: '' }

/** How a router stands towards the data plane; offline routers have no addresses. */
export function presenceMembers(presence: RouterPresence, id: string) {
  const connection = presence.connectionOf(id)
  return {
    hostname: connection?.hostname ?? '',
    isOnline: connection !== undefined,
    supportedProtocols: connection?.supportedProtocols ?? {},
    syncStatus: connection === undefined ? 'SYNC_UNKNOWN' : (connection.syncStatus ?? 'SYNC_DONE'),
  }
}

/** Presence of edge routers and, until they are verified, their enrollment (interface: Edge router). */
export const edgeRouterMembers: DeriveMembers<typeof edgeRouters> = async (context, tx, _call, records) => {
  const outstanding = await routerEnrollmentMembers(tx, 'edgeRouterId', records)
  return records.map((router) => ({
    ...presenceMembers(context.presence, router.id),
    interfaces: null,
    versionInfo: context.presence.connectionOf(router.id)?.versionInfo ?? UNKNOWN_VERSION,
    ...outstanding.get(router.id),
  }))
}
