import { X509Certificate } from 'node:crypto'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { type LinkListener, softwareText } from '../../../src/control-channel.ts'
import { ROUTER_VERSION } from '../../../src/data-plane.ts'
import { processTimer } from '../channel/conversation.ts'
import { ControlConnections } from './control/control-connections.ts'
import type { RouterIdentity } from './control/enrolled-router.ts'
import { HeldIdentity } from './control/held-identity.ts'
import { RouterRenewal } from './control/router-renewal.ts'
import { EdgeRouter } from './edge-router.ts'
import { FabricRouter } from './fabric-router.ts'
import { listenForRouter, type RouterServer, type RouterSockets } from './router-server.ts'
import type { TakesControllers } from './state/controllers.ts'
import { dialedHost, type OpensStream } from './state/opened-socket.ts'

/** The addresses of a router on its own machine, and the routers that it dials. */
export interface StandaloneRouterOptions {
  readonly identity: RouterIdentity
  /**
   * The address at which it listens for other routers and endpoints, and the address at which they reach it, both `HOST:PORT`. Without
   * `listen` it only dials; `advertise` is `listen` unless given.
   */
  readonly listen?: string
  readonly advertise?: string
  /** Groups of other routers that may link with it here; `default` unless given, empty for endpoints alone. */
  readonly linkGroups?: readonly string[]
  /** Groups of the listeners that it dials; `default` unless given, empty to dial no router. */
  readonly dialGroups?: readonly string[]
  /** Renews its certificates as soon as it is connected, however long they are good. */
  readonly renewsAtOnce?: boolean
  /**
   * Keeps changed controllers or certificates for the next start. The router uses new certificates once this resolves; if it rejects, the
   * router goes on with the former certificates.
   */
  readonly onChange?: (identity: RouterIdentity) => void | Promise<void>
  /**
   * Opens the sockets to controllers and other routers. Default: TLS. Without `listen`, the owner of such sockets hands over the channels of
   * endpoints as well, and `advertise` stands for itself.
   */
  readonly openStream?: OpensStream
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** A router that runs. */
export interface StandaloneRouter {
  readonly router: FabricRouter
  /** Its part with the ends of circuits; undefined for a transit router. */
  readonly edge: EdgeRouter | undefined
  /** Where it is reached, `HOST:PORT`; undefined for a router that only dials. */
  readonly address: string | undefined
  /** The ids of the controllers that it is connected to. */
  readonly controllers: readonly string[]
  /** Accepts nothing more, waits up to `graceMs` (0 unless given) for its circuits to end or take another way, and closes. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** The line of deployed routers whose wire it speaks: peers choose the form of links by it. */
export const EDGE_VERSION = softwareText(ROUTER_VERSION, process.platform, process.arch)
/** Milliseconds between two looks whether the circuits of a closing router have ended. */
const ENDED_LOOK_MS = 100

/**
 * Runs a router that is connected to its controllers over the network. It resolves when its ports are open; controllers are
 * dialed until they answer.
 */
export async function runRouter(options: StandaloneRouterOptions): Promise<StandaloneRouter> {
  const { identity, listen, log, openStream, dialGroups } = options
  const isEdge = identity.kind === 'edge'
  const held = new HeldIdentity(
    identity,
    (changed) => options.onChange?.(changed),
    () => server?.renew(),
  )
  const credentials = () => held.credentials
  let router: FabricRouter | undefined
  let edge: EdgeRouter | undefined
  const takers: Pick<RouterSockets, 'acceptLink' | 'acceptEndpoint'> = {
    ...(takesLinks(options) && { acceptLink: (accepted) => void router?.links.accept(accepted) }),
    ...(isEdge && {
      acceptEndpoint: (stream, { chain, remoteHost }) => edge?.accept(stream, { chain, remoteAddress: remoteHost }),
    }),
  }
  const server: RouterServer | undefined =
    listen === undefined ? undefined : await listenForRouter({ ...dialedHost(`tls:${listen}`), credentials, ...takers })
  const address = listen ? addressAt(server?.port, options.advertise ?? listen) : openStream && options.advertise
  const listeners = linkListeners(address, options)
  const host = (fabric: FabricRouter) => {
    const facts = { id: identity.id, caPem: identity.ca, version: EDGE_VERSION, advertise: address ?? '' }
    edge = new EdgeRouter({ ...facts, ...(log && { log }) }, fabric)
    return edge
  }
  const running = new FabricRouter({
    ...{ routerId: identity.id, credentials, listeners },
    clock: { now: () => runtime.monotonic(), timer: processTimer },
    random: runtime.fraction,
    ...(dialGroups && { dialGroups }),
    ...(openStream && { openStream }),
    ...(log && { log }),
    ...(isEdge && { host }),
  })
  router = running
  const { renewal, connections } = connectToControllers(running, held, options, listeners)
  return {
    router,
    edge,
    address,
    get controllers() {
      return connections.connected
    },
    close: async ({ graceMs = 0 } = {}) => {
      server?.stop()
      running.stop()
      const deadline = runtime.monotonic() + graceMs
      // Circuits that only pass take another way, where there is one; it is asked for while this one still carries them.
      if (graceMs > 0 && running.forwarder.circuits > 0) await connections.quiesce()
      while (running.forwarder.circuits > 0 && runtime.monotonic() < deadline) {
        await new Promise<void>((resolve) => runtime.timer(ENDED_LOOK_MS, resolve, true))
      }
      renewal.close()
      edge?.close()
      running.close()
      connections.close()
      await server?.close()
      await held.idle()
    },
  }
}

/** Routers of one group link with each other; this is the group of routers that name none. */
export const DEFAULT_GROUPS: readonly string[] = ['default']

/** Whether other routers may link with it. */
export function takesLinks({ linkGroups = DEFAULT_GROUPS }: Pick<StandaloneRouterOptions, 'linkGroups'>): boolean {
  return linkGroups.length > 0
}

/** An address whose port 0 stands for the bound port. */
export function addressAt(port: number | undefined, advertised: string): string {
  return advertised.replace(/:0$/, `:${port}`)
}

/** The listeners that controllers tell other routers; none for a router that takes no links. */
export function linkListeners(
  address: string | undefined,
  options: Pick<StandaloneRouterOptions, 'linkGroups'>,
): LinkListener[] {
  if (address === undefined || !takesLinks(options)) return []
  const { linkGroups: groups = DEFAULT_GROUPS } = options
  return [{ address: `tls:${address}`, protocol: 'tls', groups, localBinding: '' }]
}

/** Connects a router to its controllers, which dials them until they answer, and renews its certificates. */
export function connectToControllers(
  router: TakesControllers,
  held: HeldIdentity,
  {
    identity,
    renewsAtOnce,
    openStream,
    log,
  }: Pick<StandaloneRouterOptions, 'identity' | 'renewsAtOnce' | 'openStream' | 'log'>,
  listeners: readonly LinkListener[],
) {
  const routerId = identity.id
  const logged = log && { log }
  const hosts = hostsOf(identity.serverCert)
  const renewal = new RouterRenewal({ routerId, held, hosts, ...(renewsAtOnce && { atOnce: true }), ...logged }, router)
  const introduction = { routerId, version: ROUTER_VERSION, linkListeners: listeners }
  const addresses = identity.controllers
  const sockets = openStream && { openStream }
  const connections = new ControlConnections({ router: introduction, held, addresses, ...sockets, ...logged }, renewal)
  return { renewal, connections }
}

/** The names and addresses that a certificate holds. */
function hostsOf(pem: string): readonly string[] {
  const names = new X509Certificate(pem).subjectAltName ?? ''
  return [...names.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, host = '']) => host)
}
