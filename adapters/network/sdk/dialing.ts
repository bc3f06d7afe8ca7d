import { routersToTry } from '../../../src/data-plane.ts'
import type { Timer } from '../channel/conversation.ts'
import { ConnectionFailure } from './connection-failure.ts'
import type { DirectOffer } from './proved/direct-identity.ts'
import { RefusedByRouter } from './routers/refused-by-router.ts'
import type { RouterPool } from './routers/router-pool.ts'
import type { RouterDial } from './routers/router-requests.ts'
import type { ServiceAccess, UsableService } from './service-access.ts'
import type { ServiceConnection } from './service-connection.ts'

/** How a service is dialed. */
export interface DialOptions {
  /** Data that the host gets along with the connection: up to 65,536 bytes of a form that both agree on. More is a `TypeError`. */
  readonly applicationData?: Uint8Array | string
  /** The one host that is meant, of a service whose hosts have names. */
  readonly instance?: string
  /**
   * Whether both ends must prove their identities by their certificates (`connection.provedPeer`), so that no router has to be believed; the
   * dial rejects with `NOT_PROVED` otherwise. Default: as `directE2EE` of `openIdentity` says.
   */
  readonly proved?: boolean
  /** Milliseconds until the dial counts as failed; default 15 s. */
  readonly timeoutMs?: number
  /** Gives up when it is aborted; rejects with its reason. */
  readonly signal?: AbortSignal
}

/** The parts of an identity that dialing needs. */
export interface Dialer {
  readonly access: ServiceAccess
  readonly routers: RouterPool
  readonly timer: Timer
  /** How the host and this dialer prove themselves to each other. Rejects with `NOT_PROVED` where they must, and cannot. */
  directOffer(serviceId: string, isRequired: boolean | undefined): Promise<DirectOffer | undefined>
  /** The name that hosts see. */
  name(): Promise<string>
  /** A router does not know the session of the identity: the next call begins another one. */
  forgetSession(): void
}

const TIMEOUT_MS = 15_000
/** Bytes of the data for the application: routers and controllers pass on no more. */
const MOST_DATA_BYTES = 65_536
/** The most routers that one dial tries. */
const MOST_ROUTERS = 3

/** The party that a dial waits for: a controller, or a router and the host behind it. */
interface Progress {
  isWithController: boolean
}

interface Dial {
  readonly timeoutMs: number
  readonly progress: Progress
}

/** Dials a service. Rejects with a {@link ConnectionFailure}, and with the reason of `signal`. */
export async function dialService(dialer: Dialer, name: string, options: DialOptions): Promise<ServiceConnection> {
  const { timeoutMs = TIMEOUT_MS, signal, applicationData } = options
  signal?.throwIfAborted()
  const dataBytes = applicationData === undefined ? 0 : Buffer.byteLength(applicationData)
  if (dataBytes > MOST_DATA_BYTES)
    throw new TypeError(`dial: applicationData has ${dataBytes} bytes, and may have ${MOST_DATA_BYTES}`)
  return new Promise((resolve, reject) => {
    let isOver = false
    const settle = (work: () => void) => {
      if (isOver) return
      isOver = true
      cancel()
      signal?.removeEventListener('abort', onAbort)
      work()
    }
    const progress: Progress = { isWithController: true }
    const cancel = dialer.timer(timeoutMs, () => settle(() => reject(tooLate(name, timeoutMs, progress))))
    const onAbort = () => settle(() => reject(signal?.reason))
    signal?.addEventListener('abort', onAbort, { once: true })
    tryDial(dialer, name, options, { timeoutMs, progress }).then(
      (connection) => {
        // No caller waits for it any more.
        if (isOver) connection.destroy()
        settle(() => resolve(connection))
      },
      (error: unknown) => settle(() => reject(error)),
    )
  })
}

/** Tries again with a new session if an old session may be the cause of the failure. */
async function tryDial(dialer: Dialer, name: string, options: DialOptions, dial: Dial): Promise<ServiceConnection> {
  try {
    return await dialOnce(dialer, name, options, dial)
  } catch (error) {
    if (!isWorthAnother(error)) throw error
    dialer.access.forget(name)
    dial.progress.isWithController = true
    if (error instanceof ConnectionFailure && error.code === 'ROUTER_UNREACHABLE') dialer.forgetSession()
    return dialOnce(dialer, name, options, dial)
  }
}

async function dialOnce(dialer: Dialer, name: string, options: DialOptions, { timeoutMs, progress }: Dial) {
  const { access, routers } = dialer
  const service = await access.find(name)
  if (!service.mayDial) throw new ConnectionFailure('ACCESS_DENIED', `${name}: this identity may bind it, not dial it`)
  const session = await access.session(service, 'Dial')
  const tries = routersToTry(session.routers, (address) => routers.isConnected(address)).slice(0, MOST_ROUTERS)
  let failure = new ConnectionFailure('NO_ROUTER', `${name}: no router that may be used has an address`)
  for (const { address } of tries) {
    try {
      const request = await requestFor(dialer, service, session.token, options, timeoutMs)
      progress.isWithController = false
      const channel = await routers.channelTo(address)
      return await channel.dial(request)
    } catch (error) {
      if (!(error instanceof ConnectionFailure) || !isOfRouter(error)) throw error
      failure = error
    }
  }
  throw failure
}

function tooLate(name: string, timeoutMs: number, { isWithController }: Progress): ConnectionFailure {
  return isWithController
    ? new ConnectionFailure('CONTROLLER_UNREACHABLE', `${name}: the controller did not answer within ${timeoutMs} ms`)
    : new ConnectionFailure('TIMED_OUT', `${name}: no connection within ${timeoutMs} ms`)
}

async function requestFor(
  dialer: Dialer,
  service: UsableService,
  sessionToken: string,
  { applicationData: data, instance, proved }: DialOptions,
  timeoutMs: number,
): Promise<RouterDial> {
  return {
    ...{ service: service.name, sessionToken, isEncrypted: service.isEncrypted, timeoutMs },
    callerName: await dialer.name(),
    direct: await dialer.directOffer(service.id, proved),
    ...(data !== undefined && { applicationData: typeof data === 'string' ? Buffer.from(data) : data }),
    ...(instance !== undefined && { instance }),
  }
}

/** Whether another router may succeed where this router failed. */
function isOfRouter({ code }: ConnectionFailure): boolean {
  return code === 'ROUTER_UNREACHABLE' || code === 'CONNECTION_LOST' || code === 'NO_ROUTER'
}

function isWorthAnother(error: unknown): boolean {
  if (error instanceof RefusedByRouter && error.isStale) return true
  return error instanceof ConnectionFailure && isOfRouter(error)
}
