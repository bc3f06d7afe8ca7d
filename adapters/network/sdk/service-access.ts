import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { RouterOffer } from '../../../src/data-plane.ts'
import { ConnectionFailure } from './connection-failure.ts'
import type { ControllerSession } from './controller-session.ts'

/** A service that an identity may dial or bind. */
export interface UsableService {
  readonly id: string
  readonly name: string
  /** Whether connections are encrypted from end to end, so that no router can read them. */
  readonly isEncrypted: boolean
  readonly mayDial: boolean
  readonly mayBind: boolean
}

/** The right to dial or bind a service, and the routers that may be used for it. */
export interface ServiceSession {
  readonly token: string
  readonly routers: readonly RouterOffer[]
}

/** Milliseconds for which the facts of a service are kept: routers judge by later changes. */
const KNOWN_MS = 60_000
/** The most services that are kept: 100 kB. */
const MOST_KNOWN = 1000

/** The services of an identity and its sessions for them, as it knows them; the controller is asked for unknown ones. */
export class ServiceAccess {
  readonly #controller: ControllerSession
  readonly #reaches: (router: RouterOffer) => boolean
  readonly #services = new Map<string, { readonly at: number; readonly service: Promise<UsableService> }>()
  readonly #sessions = new Map<string, Promise<ServiceSession>>()

  constructor(controller: ControllerSession, reaches: (router: RouterOffer) => boolean) {
    this.#controller = controller
    this.#reaches = reaches
  }

  /** Every service that the identity may use. */
  list(): Promise<readonly UsableService[]> {
    return this.#controller.call('services', async (api) => {
      const all: UsableService[] = []
      for await (const service of api.listAll('GET /services')) all.push(usable(service))
      return all
    })
  }

  /** A service by name. Rejects with `SERVICE_NOT_FOUND` if the identity may not use it, whether it exists or not. */
  find(name: string): Promise<UsableService> {
    const known = this.#services.get(name)
    if (known !== undefined && runtime.monotonic() - known.at < KNOWN_MS) return known.service
    const service = this.#controller.call(name, async (api) => {
      const query = { filter: `name = ${JSON.stringify(name)}`, limit: 1 }
      const [found] = (await api.call('GET /services', { query })).data
      if (found !== undefined) return usable(found)
      throw new ConnectionFailure('SERVICE_NOT_FOUND', `${name}: there is no such service for this identity`)
    })
    if (this.#services.size >= MOST_KNOWN) this.#services.clear()
    this.#services.set(name, { at: runtime.monotonic(), service })
    service.catch(() => this.forget(name))
    return service
  }

  /** A session for a service: an existing session, or a new one. */
  session({ id, name }: UsableService, type: 'Dial' | 'Bind'): Promise<ServiceSession> {
    const key = `${type} ${id}`
    const known = this.#sessions.get(key)
    if (known !== undefined) return known
    const session = this.#controller.call(name, async (api) => {
      const { data } = await api.call('POST /sessions', { body: { serviceId: id, type } })
      return { token: data.token, routers: data.edgeRouters.map(offerOf).filter(this.#reaches) }
    })
    if (this.#sessions.size >= MOST_KNOWN) this.#sessions.clear()
    this.#sessions.set(key, session)
    session.catch(() => this.#sessions.delete(key))
    return session
  }

  /** Forgets a service: its known facts may be outdated. */
  forget(name: string): void {
    const known = this.#services.get(name)
    this.#services.delete(name)
    known?.service.then(
      ({ id }) => {
        for (const type of ['Dial', 'Bind']) this.#sessions.delete(`${type} ${id}`)
      },
      () => undefined,
    )
  }
}

function usable(service: {
  readonly id: string
  readonly name: string
  readonly encryptionRequired: boolean
  readonly permissions?: readonly string[] | null
}): UsableService {
  const permissions = service.permissions ?? []
  return {
    ...{ id: service.id, name: service.name, isEncrypted: service.encryptionRequired },
    mayDial: permissions.includes('Dial'),
    mayBind: permissions.includes('Bind'),
  }
}

interface ShownRouter {
  readonly name: string
  readonly isOnline: boolean
  readonly cost?: number | null
  readonly supportedProtocols?: Readonly<Record<string, string>> | null
  readonly urls?: Readonly<Record<string, string>> | null
}

function offerOf({ name, isOnline, cost, supportedProtocols, urls }: ShownRouter): RouterOffer {
  return { name, isOnline, cost: cost ?? 0, address: supportedProtocols?.tls ?? urls?.tls }
}
