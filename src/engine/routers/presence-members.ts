import type { RouterPresence } from '../../ports/router-presence.ts'

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
