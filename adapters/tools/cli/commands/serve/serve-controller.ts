import { isIP } from 'node:net'
import { DEFAULT_REDIRECT_URIS } from '../../../../../src/browser-pages.ts'
import { Lifetime } from '../../../../../src/concurrency/lifetime.ts'
import {
  type Controller,
  createController,
  type OpenIdOptions,
  type PkiMaterial,
  type Storage,
} from '../../../../../src/index.ts'
import {
  createListener,
  DEFAULT_MAX_CONNECTIONS,
  formatAddress,
  type Listener,
  PkiFileError,
  type PkiFiles,
  type RunningServer,
  readServerFiles,
  type ServerCertificate,
  serve,
  serverCertificateFacts,
} from '../../../../web/node/index.ts'
import { UsageError } from '../../command-line/usage.ts'
import { ADMIN_PASSWORD, ADMIN_USERNAME } from '../../input/admin-credentials.ts'
import { storageOnDemand } from '../../input/storage-on-demand.ts'
import { tell } from '../../output.ts'
import { latestCopyIn } from '../backup/run-backups.ts'
import { fewDescriptors } from '../examine-runtime.ts'
import { followCertificate, openCertificates, serverWarnings } from './certificates.ts'
import { writeEvents } from './event-writer.ts'
import { exposureNotes } from './option-declarations.ts'
import { ownMetrics, withProcessState } from './process-state.ts'
import { gatewayRedirects, serveGateway } from './serve-gateway.ts'
import type { ServeOptions } from './serve-options.ts'
import { workerMetrics } from './worker-metrics.ts'

/** A controller that answers over HTTPS. */
export interface ServedController {
  readonly controller: Controller
  readonly server: RunningServer
  /** The line that announces this to programs and people. */
  readonly readyLine: string
  /** Remarks for the operator, one line each. */
  readonly notes: readonly string[]
  /** Lets requests in flight finish, then closes the storage. */
  close(): Promise<void>
}

interface OpenedParts {
  readonly storage: Storage
  /** The storage for the ready line, once it was used. */
  storageName(): string
  readonly isWorker: boolean
}

const VARIABLES = `${ADMIN_USERNAME} and ${ADMIN_PASSWORD}`

/**
 * Starts a controller by the options and resolves when it answers. Throws `UsageError` or `PkiFileError` for unusable options: a taken
 * port, an unreadable file, a key of another certificate.
 */
export async function serveController(options: ServeOptions, isWorker: boolean): Promise<ServedController> {
  // Options that need no storage are refused first: a failed start makes no database.
  const { storage, name } = await storageOnDemand(options.storage, options.tables)
  try {
    return await serveStorage(options, { storage, storageName: name, isWorker })
  } catch (error) {
    await storage.close()
    throw error
  }
}

async function serveStorage(
  options: ServeOptions,
  { storage, storageName, isWorker }: OpenedParts,
): Promise<ServedController> {
  const { material, files, notes } = await openCertificates(options, Date.now())
  const named = await openNamed(options.named)

  // Enrollment tokens name the port. When the system chooses the port, only listening reveals it: the server starts first, and a request
  // that is early waits for the controller. No request comes before the line that builds the controller: that runs in the same turn of the
  // event loop.
  let listener: Listener | undefined
  const server = await bind(
    options,
    { material, named },
    {
      fetch: fetchOf(() => building),
      app: (incoming, outgoing) => {
        if (listener !== undefined) listener(incoming, outgoing)
        else building.then(() => listener?.(incoming, outgoing)).catch(() => outgoing.destroy())
      },
    },
  )
  const address = formatAddress(options.advertise ?? { host: options.listen.host, port: server.port })
  let stopLooking: () => void = () => undefined
  const building = build(options, { storage, material, files, address, port: server.port }).then((built) => {
    const combine = isWorker && options.probes ? workerMetrics(() => ownMetrics(built)) : undefined
    const told = options.probes ? withProcessState(built, { combine, tell }) : undefined
    stopLooking = () => told?.stop()
    const controller = told?.controller ?? built
    const { fetch, answerHeaders } = controller
    listener = createListener(fetch, { answerHeaders: () => answerHeaders, ...options.limits })
    return controller
  })
  try {
    const controller = await building
    const showStored = () => server.replaceCertificate(controller.tls())
    // The storage may hold later certificates than the files.
    showStored()
    controller.events.on('pki.changed', showStored)
    await server.openFabric(controller)
    const stopRenewal = followCertificate(files, material, {
      what: 'server certificate',
      put: async (renewed) => {
        await controller.replaceServerCertificate(renewed)
        server.replaceCertificate({ cert: renewed.serverCertPem, key: renewed.serverKeyPem })
        return serverWarnings(renewed, options.advertise ?? options.listen, Date.now())
      },
    })
    const browsers = await openGateway(options, controller, server)
    const stopEvents = await writeEvents(controller, options.events)
    const lifetime = new Lifetime('the controller is not served any more')
    return {
      controller,
      server,
      readyLine: `portcullis ready at ${server.url}, advertised as ${address}, storage ${storageName()}`,
      notes: [
        ...notes,
        ...(await exposureNotes(options.storage, files)),
        ...(await descriptorNotes(options)),
        ...adminNotes(controller),
        ...explorerNotes(options, server),
        ...routerNotes(options, server, address),
        ...(browsers?.notes ?? []),
      ],
      close: () =>
        lifetime.close(
          stopRenewal,
          () => stopLooking(),
          stopEvents,
          async () => browsers?.close(),
          () => server.close(),
          () => controller.close(),
        ),
    }
  } catch (error) {
    await server.close({ graceMs: 0 })
    throw error
  }
}

/** Asks a controller that may still be built. */
function fetchOf(building: () => Promise<Controller>): Controller['fetch'] {
  type Plain = NonNullable<Controller['fetch']['plain']>
  const plain: Plain = async (...request) => {
    const { fetch } = await building()
    if (fetch.plain === undefined) throw new TypeError('the fetch of the controller takes no plain requests')
    return fetch.plain(...request)
  }
  const web = async (...request: Parameters<Controller['fetch']>) => (await building()).fetch(...request)
  return Object.assign(web, { plain })
}

function adminNotes({ hasAdmin, hasOtherAdmin }: Controller): readonly string[] {
  if (!hasAdmin) return [`there is no admin: ${VARIABLES} in the environment create one`]
  return hasOtherAdmin ? [`there is an admin with other credentials: ${VARIABLES} were not applied`] : []
}

async function descriptorNotes({ limits }: ServeOptions): Promise<readonly string[]> {
  const few = await fewDescriptors(limits.maxConnections ?? DEFAULT_MAX_CONNECTIONS)
  return few === undefined ? [] : [`warning: ${few}`]
}

function explorerNotes({ explorer }: ServeOptions, { url }: RunningServer): readonly string[] {
  return explorer ? [`the access explorer is at ${url}/portcullis/explorer/`] : []
}

function routerNotes({ router: place }: ServeOptions, { router }: RunningServer, apis: string): readonly string[] {
  if (router === undefined) return []
  const own = place?.advertise ?? place?.listen
  const address = own === undefined || own.port === 0 ? apis : formatAddress(own)
  return [`the edge router '${router.name}' takes SDKs, tunnelers and links at ${address}`]
}

async function openGateway({ gateway: place }: ServeOptions, controller: Controller, { router }: RunningServer) {
  return place === undefined || router === undefined ? undefined : serveGateway(place, controller, router)
}

async function bind(
  {
    listen: { host, port },
    controlListen,
    controlAdvertise,
    controlOthers,
    servesRouters,
    limits,
    router: place,
  }: ServeOptions,
  { material, named }: { readonly material: PkiMaterial; readonly named: readonly ServerCertificate[] },
  { fetch, app }: Pick<Controller, 'fetch'> & { readonly app: Listener },
): Promise<RunningServer> {
  try {
    const tls = () => ({ cert: material.serverCertPem, key: material.serverKeyPem })
    const fabric = servesRouters && {
      ...(controlListen === undefined ? {} : { listen: controlListen }),
      ...(controlAdvertise === undefined ? {} : { advertise: controlAdvertise }),
      others: controlOthers,
    }
    const router = place !== undefined && {
      name: place.name,
      ...(place.listen === undefined ? {} : { listen: place.listen }),
      ...(place.advertise === undefined ? {} : { advertise: place.advertise }),
    }
    return await serve({ fetch, tls }, { host, port, app, fabric, router, namedCertificates: named, ...limits })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`cannot listen on --listen ${formatAddress({ host, port })}: ${reason}`, { cause: error })
  }
}

/** The second server certificate, where there is one; it is read at the start alone. */
async function openNamed(named: ServeOptions['named']): Promise<readonly ServerCertificate[]> {
  if (named === undefined) return []
  const files = { serverCertPem: named.cert, serverKeyPem: named.key }
  const { serverCertPem: cert, serverKeyPem: key } = await readServerFiles(files)
  if (serverCertificateFacts(cert).names.some((name) => isIP(name) === 0)) return [{ cert, key }]
  throw new UsageError(`--named-cert: ${named.cert} is for no DNS name, by which clients could ask for it`)
}

interface Parts {
  readonly storage: Storage
  readonly material: PkiMaterial
  readonly files: PkiFiles
  readonly address: string
  readonly port: number
}

async function build(
  {
    admin,
    trustDomain,
    compat,
    directE2EE,
    refuseUnknownMembers,
    rateLimits,
    audit,
    cors,
    oidc,
    webhooks,
    probes,
    docs,
    explorer,
    durations,
    gateway,
    backups,
  }: ServeOptions,
  parts: Parts,
): Promise<Controller> {
  const { storage, material, files, address, port } = parts
  try {
    const controller = await createController({
      storage,
      address,
      pki: material,
      rateLimits,
      audit,
      cors,
      webhooks,
      ...durations,
      // Clients may use the listening port, whatever address is advertised.
      oidc:
        oidc === false ? false : { ports: [port], ...oidc, ...withRedirects(oidc, await gatewayRedirects(gateway)) },
      ...(admin === undefined ? {} : { admin }),
      ...(refuseUnknownMembers && { refuseUnknownMembers }),
      ...(probes && { probes }),
      ...(docs && { apiPage: docs }),
      ...(trustDomain === undefined ? {} : { trustDomain }),
      ...(backups !== undefined && { latestBackup: async () => (await latestCopyIn(backups))?.madeAt ?? null }),
      ...(compat === undefined ? {} : { compat }),
      ...(directE2EE === undefined ? {} : { directE2EE }),
    })
    return explorer ? (await import('../../../explorer/index.ts')).withExplorer(controller) : controller
  } catch (error) {
    throw naming(files, error)
  }
}

/** The addresses that a login may lead back to, with further ones. */
function withRedirects({ redirectUris = DEFAULT_REDIRECT_URIS }: OpenIdOptions, further: readonly string[]) {
  return further.length === 0 ? {} : { redirectUris: [...redirectUris, ...further] }
}

/** Options of the controller, as the command line calls them. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['oidc.redirectUris', '--redirect-uri'],
  ['oidc.postLogoutUris', '--post-logout-uri'],
  ['oidc.accessTokenLifetimeMs', '--token-lifetimes'],
  ['oidc.idTokenLifetimeMs', '--token-lifetimes'],
  ['oidc.refreshTokenLifetimeMs', '--token-lifetimes'],
])

/** The controller names the part of the PKI or the option that it cannot use. The operator needs its file or its word. */
function naming(files: PkiFiles, error: unknown): unknown {
  const [, member = '', rest] = (error instanceof Error ? /^(oidc\.\w+)(.*)/s.exec(error.message) : undefined) ?? []
  const option = OPTIONS.get(member)
  if (option !== undefined) return new UsageError(`${option}${rest}`, { cause: error })
  const [, part, problem] = (error instanceof Error ? /^(\w+Pem): (.*)/s.exec(error.message) : undefined) ?? []
  const file = new Map(Object.entries(files)).get(part ?? '')
  return file === undefined ? error : new PkiFileError(`${file}: ${problem}`, { cause: error })
}
