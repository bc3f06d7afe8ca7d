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
import { listenForRouter, type RouterServer } from './router-server.ts'
import { dialedHost } from './state/opened-socket.ts'

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
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** A router that runs. */
export interface StandaloneRouter {
  readonly router: FabricRouter
  /** Where it is reached, `HOST:PORT`; undefined for a router that only dials. */
  readonly address: string | undefined
  /** The ids of the controllers that it is connected to. */
  readonly controllers: readonly string[]
  /** Accepts nothing more, waits up to `graceMs` (0 unless given) for its circuits to end or take another way, and closes. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** The line of deployed routers whose wire it speaks: peers choose the form of links by it. */
export const EDGE_VERSION = softwareText(ROUTER_VERSION, process.platform, process.arch)
const LOOK_MS = 100

/**
 * Runs a router that is connected to its controllers over the network. It resolves when its ports are open; controllers are
 * dialed until they answer.
 */
export async function runRouter(options: StandaloneRouterOptions): Promise<StandaloneRouter> {
  const { identity } = options
  const keep = (changed: RouterIdentity) => options.onChange?.(changed)
  const held = new HeldIdentity(identity, keep, () => server?.renew())
  const credentials = () => held.credentials
  const { listen, log, dialGroups, linkGroups = ['default'] } = options
  let router: FabricRouter | undefined
  let edge: EdgeRouter | undefined
  const takesLinks = linkGroups.length > 0
  const server: RouterServer | undefined =
    listen === undefined
      ? undefined
      : await listenForRouter({
          ...dialedHost(`tls:${listen}`),
          credentials,
          ...(takesLinks && { acceptLink: (accepted) => void router?.links.accept(accepted) }),
          ...(identity.kind === 'edge' && {
            acceptEndpoint: (stream, { chain, remoteHost }) =>
              edge?.accept(stream, { chain, remoteAddress: remoteHost }),
          }),
        })
  const address = listen && (options.advertise ?? listen).replace(/:0$/, `:${server?.port}`)
  const listeners: LinkListener[] =
    address === undefined || !takesLinks
      ? []
      : [{ address: `tls:${address}`, protocol: 'tls', groups: linkGroups, localBinding: '' }]
  router = new FabricRouter({
    routerId: identity.id,
    credentials,
    listeners,
    clock: { now: () => runtime.monotonic(), timer: processTimer },
    random: runtime.fraction,
    ...(dialGroups && { dialGroups }),
    ...(log && { log }),
    ...(identity.kind === 'edge' && {
      host: (fabric) => {
        edge = new EdgeRouter(
          { id: identity.id, caPem: identity.ca, version: EDGE_VERSION, advertise: address ?? '', ...(log && { log }) },
          fabric,
        )
        return edge
      },
    }),
  })
  const running = router
  const renewal = new RouterRenewal(
    {
      routerId: identity.id,
      held,
      hosts: hostsOf(identity.serverCert),
      ...(options.renewsAtOnce && { atOnce: true }),
      ...(log && { log }),
    },
    running,
  )
  const connections = new ControlConnections(
    {
      router: { routerId: identity.id, version: ROUTER_VERSION, linkListeners: listeners },
      held,
      addresses: identity.controllers,
      ...(log && { log }),
    },
    renewal,
  )
  return {
    router,
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
        await new Promise<void>((resolve) => runtime.timer(LOOK_MS, resolve, true))
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

/** The names and addresses that a certificate holds. */
export function hostsOf(pem: string): readonly string[] {
  const names = new X509Certificate(pem).subjectAltName ?? ''
  return [...names.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, host = '']) => host)
}
