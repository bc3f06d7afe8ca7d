import { OIDC_BASE } from '../../domain/oidc/issuers.ts'
import { instant } from '../../domain/time/instant.ts'
import { CONTROLLER_ID } from '../../engine/configs/controller-settings.ts'
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
  const served = { ...bases, ...(network.hasOpenId && { 'edge-oidc': OIDC_BASE }) }
  const apiAddresses = Object.entries(served).map(([api, base]) => [
    api,
    [{ url: `https://${network.address}${base}`, version: 'v1' }],
  ])
  return {
    id: CONTROLLER_ID,
    name: 'controller',
    _links: { self: { href: `./controllers/${CONTROLLER_ID}` } },
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
