import { routerSide } from 'portcullis/fabric'
import { bodyOf, type FakeRouter, type FakeRouterOptions } from 'portcullis/testing'
import { fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, Route, Unroute } = routerSide

/** A router that hosts and dials for itself. */
export const TUNNELER = { fields: { isTunnelerEnabled: true } }

/** The routes that a router was told of, in order. */
export const routesOf = (router: FakeRouter) =>
  router.all(CONTENT_TYPE.route).map((frame) => Route.decode(bodyOf(frame)))

/** The circuits that a router was told to forget, in order. */
export const unroutesOf = (router: FakeRouter) =>
  router.all(CONTENT_TYPE.unroute).map((frame) => Unroute.decode(bodyOf(frame)))

/** How the two routers of a pair behave. */
interface PairOptions {
  readonly service?: object
  readonly client?: FakeRouterOptions
  readonly server?: FakeRouterOptions
}

/** Two tunnelers with a link; the second one hosts the service. */
export async function pair(options: PairOptions = {}) {
  const world = await fabricWorld()
  const network = await tunnelNetwork(world, options.service)
  const client = await world.router('client', { ...TUNNELER, ...options.client })
  const server = await world.router('server', { ...TUNNELER, ...options.server })
  reportLinks(client, [['link-1', server]])
  await host(server, network.serviceId)
  return { world, network, client, server }
}
