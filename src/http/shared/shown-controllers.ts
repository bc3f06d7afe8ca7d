import { instant } from '../../domain/time/instant.ts'
import { CONTROLLER_ID } from '../../engine/configs/controller-settings.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { clientApis } from './served-apis.ts'

/** The controllers of the network as clients see them, which tell whoever enrolls where to go. */
export async function controllersForClients(engine: ControllerEngine) {
  return [shownController(await thisController(engine, clientApis))]
}

/** This controller, with some of the APIs that it serves; instants are epoch milliseconds. */
export async function thisController(engine: ControllerEngine, apisOf: typeof clientApis) {
  const { network } = engine
  const { fingerprint, pem } = await network.serverCertificate()
  const apiAddresses = Object.entries(apisOf(network.hasOpenId)).map(([api, base]) => [
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
