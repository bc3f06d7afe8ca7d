/**
 * A page that shows a network, explains it, and tries changes before they are made.
 *
 * @module portcullis/explorer
 */
import { checkArgument } from '../../../src/base/arguments.ts'
import type { ConnectionInfo, ControllerFetch } from '../../../src/index.ts'
import { compressed, compressedResponse } from './compression.ts'
import { EXPLORER_PATH, openSite } from './site.ts'

export { EXPLORER_PATH }

/**
 * A controller that also answers `/portcullis/explorer/` with the access explorer: a static page without rights of its own. Its visitors
 * log in and see what the APIs show them. Mount or serve the result in place of the controller. The answers to the first view are worked
 * out at once, in slices of a few milliseconds. Long answers of the management and the Portcullis API are compressed for callers that take that.
 *
 * @example
 * await serve(withExplorer(controller), { port: 1280 })
 * const app = express()
 * app.use('/ziti', expressHandler(withExplorer(controller))) // then below /ziti/portcullis/explorer/
 */
export function withExplorer<
  C extends { readonly fetch: ControllerFetch; readonly engine?: { readonly host: { prepareReach(): Promise<void> } } },
>(controller: C): C {
  checkArgument('withExplorer', 'controller', controller, {
    functions: ['fetch'],
    isNeeded: true,
    hint: 'a controller',
  })
  // The first request reports a failure.
  controller.engine?.host.prepareReach().catch(() => undefined)
  const site = openSite()
  const { fetch } = controller
  const { plain } = fetch
  const web = async (request: Request, connection?: ConnectionInfo): Promise<Response> => {
    const own = await site(request)
    if (own === undefined) return compressedResponse(request, await fetch(request, connection))
    const { status, headers, body } = own
    return new Response(body instanceof Uint8Array ? new Uint8Array(body) : null, { status, headers })
  }
  if (plain === undefined) return withFetch(controller, web)
  const both = Object.assign(web, {
    plain: async (...[request, connection]: Parameters<typeof plain>) =>
      (await site(request)) ?? compressed(request, await plain(request, connection)),
  })
  return withFetch(controller, both)
}

/** The same controller with another `fetch`; its later changes show through. */
function withFetch<C extends { readonly fetch: ControllerFetch }>(controller: C, fetch: ControllerFetch): C {
  return new Proxy(controller, { get: (target, name) => (name === 'fetch' ? fetch : Reflect.get(target, name)) })
}
