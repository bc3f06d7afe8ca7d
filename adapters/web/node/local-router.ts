import type { ControllerFetch, ControlPlane } from '../../../src/index.ts'
import type { RunningRouter } from '../../network/router/index.ts'
import type { Identity } from '../../network/sdk/index.ts'

/**
 * The edge router of this process, through which programs of the process dial and host without a socket: as the router's own identity, or
 * as another identity. Bind and Dial policies apply as for any identity.
 *
 * @example
 * const server = await serve(controller, { port: 1280, fabric: true, router: true })
 * await server.router?.host('wiki', (request, response) => response.end(`hello, ${request.caller?.name}`))
 */
export interface LocalRouter extends RunningRouter, Pick<Identity, 'agent' | 'dial' | 'fetch' | 'host'> {
  /**
   * Another identity of the network, by id or name, for this process to act as; the same object each time. Its calls reject with
   * `NOT_AUTHENTICATED` if the network has no such identity.
   */
  as(identity: string): Identity
}

/** The controller that a router of its process belongs to. */
export interface LocalController {
  readonly plane: ControlPlane
  readonly fetch: ControllerFetch
  /** `https://HOST:PORT`. */
  readonly origin: string
}

/** Lets programs of the process dial and host through a router. */
export async function localRouter(router: RunningRouter, controller: LocalController): Promise<LocalRouter> {
  // Loaded here because most servers run no router.
  const { inProcessIdentity } = await import('../../network/sdk/in-process-identity.ts')
  const { plane, fetch, origin } = controller
  const known = new Map<string, Identity>()
  const as = (identity: string): Identity => {
    const startSession = () => plane.startSession(identity)
    const found =
      known.get(identity) ??
      inProcessIdentity({ origin, router, startSession, fetch: async (request) => fetch(request, {}) })
    known.set(identity, found)
    return found
  }
  const { agent, dial, fetch: fetchService, host } = as(router.id)
  return {
    ...{ agent, dial, host, as, fetch: fetchService },
    get id() {
      return router.id
    },
    get name() {
      return router.name
    },
    accept: (socket, stranger) => router.accept(socket, stranger),
    acceptLink: (socket, chain) => router.acceptLink(socket, chain),
    greet: (channel, stranger) => router.greet(channel, stranger),
    moveTo: (advertise) => router.moveTo(advertise),
    close: () => {
      for (const identity of known.values()) void identity.close()
      router.close()
    },
  }
}
