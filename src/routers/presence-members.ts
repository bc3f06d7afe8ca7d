import type { RouterPresence } from '../ports/router-presence.ts'
import { capabilityNames } from './router-fields.resource.ts'

/** How a router stands towards the data plane; offline routers have no addresses. */
export function presenceMembers(presence: RouterPresence, id: string) {
  const connection = presence.connectionOf(id)
  const { capabilities, versionInfo } = connection ?? {}
  return {
    ...(capabilities && { capabilities: capabilityNames(capabilities) }),
    ...(versionInfo && { version: versionInfo.version }),
    hostname: connection?.hostname ?? '',
    isOnline: connection !== undefined,
    supportedProtocols: connection?.supportedProtocols ?? {},
    syncStatus: connection === undefined ? 'SYNC_UNKNOWN' : (connection.syncStatus ?? 'SYNC_DONE'),
  }
}

/** The interfaces of a router's host as it reported them, with the flags of the system by their names; null without any. */
export function interfacesOf(presence: RouterPresence, id: string) {
  const reported = presence.connectionOf(id)?.interfaces
  if (reported === undefined) return null
  return reported.map(({ flags, ...known }) => ({
    ...known,
    isUp: hasFlag(flags, 0),
    isBroadcast: hasFlag(flags, 1),
    isLoopback: hasFlag(flags, 2),
    isMulticast: hasFlag(flags, 4),
    isRunning: hasFlag(flags, 5),
  }))
}

/** In the order in which the network library of routers numbers them. */
function hasFlag(flags: number, bit: number): boolean {
  return Math.floor(flags / 2 ** bit) % 2 === 1
}
