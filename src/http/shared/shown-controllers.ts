import { instant } from '../../domain/instant.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { CLIENT_BASE } from '../operations/paths.ts'

/** The controllers of the network as clients see them, which tell whoever enrolls where to go. */
export async function controllersForClients(engine: ControllerEngine) {
  return [shownController(await thisController(engine, { 'edge-client': CLIENT_BASE }))]
}

/** This controller, which serves APIs below their base paths; instants are epoch milliseconds. */
export async function thisController(engine: ControllerEngine, bases: Readonly<Record<string, string>>) {
  const { network } = engine
  const { fingerprint, pem } = await network.serverCertificate()
  const apiAddresses = Object.entries(bases).map(([api, base]) => [
    api,
    [{ url: `https://${network.address}${base}`, version: 'v1' }],
  ])
  return {
    id: 'controller',
    name: 'controller',
    _links: { self: { href: './controllers/controller' } },
    apiAddresses: Object.fromEntries(apiAddresses),
    certPem: pem,
    fingerprint,
    isOnline: true,
    tags: {},
    createdAt: engine.startedAt,
    updatedAt: engine.startedAt,
    lastJoinedAt: engine.startedAt,
  }
}

/** The same as it is shown. */
export function shownController(controller: Awaited<ReturnType<typeof thisController>>) {
  const { createdAt, updatedAt, lastJoinedAt, ...rest } = controller
  return {
    ...rest,
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
    lastJoinedAt: instant(lastJoinedAt),
  }
}
