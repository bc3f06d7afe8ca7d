import type { RequestListener } from 'node:http'
import type { OptionRules } from '../../../src/base/arguments.ts'
import type { Controller, ControllerFetch } from '../../../src/index.ts'
import type { Address } from '../../network/channel/index.ts'
import type { EdgeRouterOptions } from './edge-port.ts'
import type { ControlChannelOptions, FabricSource } from './fabric-port.ts'
import { LISTENER_OPTIONS, type ListenerOptions } from './listener.ts'
import type { LocalRouter } from './local-router.ts'
import type { ServerCertificate } from './tls-sockets.ts'

/** The part of a controller that a server needs: its answers and its certificate. */
export interface ServableController {
  readonly fetch: ControllerFetch
  /** The headers of every answer. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  tls(): ServerCertificate
  /** A replacement certificate is shown from the next connection on. */
  readonly events?: Pick<Controller['events'], 'on'>
  /** Opens the data plane; where it is not there yet, {@link RunningServer.openFabric} has to be called. */
  readonly openFabric?: FabricSource['openFabric']
}

/** Where a controller is served and what a connection may cost; all times in ms. */
export interface ServeOptions extends ListenerOptions {
  /** The address to bind; `127.0.0.1` unless given, so that nothing is exposed by accident. */
  readonly host?: string
  /** The port to bind; 0 lets the system choose. */
  readonly port: number
  /** How long a TLS handshake, and then the headers of a request, may take; 10 s unless given. */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive; 30 s unless given, never less than `headersTimeoutMs`. */
  readonly requestTimeoutMs?: number
  /** How long an idle connection is kept for the next request; 5 s unless given. */
  readonly keepAliveTimeoutMs?: number
  /**
   * How many connections may be open; 10 000 unless given. A further connection takes the place of the longest silent connection of the
   * address with the most connections. It is dropped when requests are being answered on all of them.
   */
  readonly maxConnections?: number
  /**
   * How many of them one address may have, an IPv6 address being its first 64 bits; half of `maxConnections` unless given.
   * All clients behind a proxy that passes TLS on, or behind a NAT, have one address.
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * A host application that answers every request instead of the controller, which is mounted in it: an Express application as it is,
   * `getRequestListener(app.fetch)` of `@hono/node-server`, `fastify.routing`. It gets the connection limits, the draining at the end and
   * the renewal of the certificate; limits of bodies and answers come with the handler that mounts the controller.
   */
  readonly app?: RequestListener
  /**
   * Lets routers connect: `true` on the same port, by ALPN, under the address of `host` and the port that is
   * bound; or as the options say. Without it no router is served.
   */
  readonly fabric?: boolean | ControlChannelOptions
  /**
   * Runs an edge router in this process, with `fabric`: SDKs and tunnelers dial and host through it. `true` on the same port, by ALPN and
   * the first bytes; or as the options say. Its record, key and certificate are made once and kept in the storage.
   */
  readonly router?: boolean | EdgeRouterOptions
  /**
   * Further certificates, such as one of a public authority for browsers: a client that asks for one of its DNS names (SNI) sees it. Other
   * clients see the controller's own certificate, which alone signs tokens.
   */
  readonly namedCertificates?: readonly ServerCertificate[]
}

/** Options with an edge router, and the control channel by which the controller lays its circuits. */
export interface RoutedServeOptions extends ServeOptions {
  readonly fabric: NonNullable<Exclude<ServeOptions['fabric'], false>>
  readonly router: NonNullable<Exclude<ServeOptions['router'], boolean>> | true
}

/** A controller that is being served with an edge router. */
export interface RoutedServer extends RunningServer {
  readonly router: LocalRouter
}

/** A controller that is being served; `await using` closes it at the end of a block, before the controller that was made before it. */
export interface RunningServer extends AsyncDisposable {
  /** The URL of the bound address, `https://host:port`. */
  readonly url: string
  /** The port that is bound, also where the system chose it. */
  readonly port: number
  /** Where routers reach the controller, for example `tls:host:1280`; undefined without `fabric`. */
  readonly controlAddress: string | undefined
  /** The edge router of this process; undefined without `router`, and until routers are served. */
  readonly router: LocalRouter | undefined
  /** Serves the routers of a controller that came to be after its server. Does nothing without `fabric`. */
  openFabric(controller: FabricSource): Promise<void>
  /**
   * Stops accepting connections, waits `graceMs` (4 s unless given) for requests in flight, then ends the rest. A request that has not
   * arrived whole gets a second at most. Calling it again gives the same promise.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** Presents another certificate from the next connection on; without an argument, asks the controller for it. */
  replaceCertificate(certificate?: ServerCertificate): void
  /**
   * Presents a certificate, from the next connection on, to clients that ask for one of its DNS names (SNI), in place of an earlier
   * certificate for the name. Throws when it has no DNS name.
   */
  addNamedCertificate(certificate: ServerCertificate): void
}

/** The options of `serve`, as they are checked. */
export const SERVE_RULES: OptionRules<ServeOptions> = {
  ...LISTENER_OPTIONS,
  host: 'string',
  port: {
    shape: 'number',
    isNeeded: true,
    hint: 'a number; 0 lets the system choose',
    problem: (port: number) =>
      Number.isInteger(port) && port >= 0 && port <= 65_535 ? undefined : `takes 0 to 65535, not ${port}`,
  },
  headersTimeoutMs: 'number',
  requestTimeoutMs: 'number',
  keepAliveTimeoutMs: 'number',
  maxConnections: 'number',
  maxConnectionsPerAddress: 'number',
  app: 'function',
  namedCertificates: 'array',
  fabric: { members: ['listen', 'advertise', 'others'], or: [true, false], problem: wrongAddress },
  router: {
    members: ['name', 'roleAttributes', 'listen', 'advertise', 'running'],
    or: [true, false],
    problem: wrongAddress,
  },
}

/** Programs without types give addresses as the command line takes them. */
function wrongAddress(given: Readonly<Record<'listen' | 'advertise', unknown>>): string | undefined {
  const wrong = (['listen', 'advertise'] as const).find((name) => given[name] !== undefined && !isAddress(given[name]))
  return wrong && `takes ${wrong} as { host: '${wrong === 'listen' ? '0.0.0.0' : 'router.example.org'}', port: 3022 }`
}

function isAddress(value: unknown): value is Address {
  return typeof value === 'object' && value !== null && 'host' in value && typeof value.host === 'string'
}
