/**
 * A controller in a Hono application.
 *
 * @module portcullis/hono
 */

import type { Context, Handler } from 'hono'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import type { ConnectionInfo, Controller } from '../../../src/index.ts'
import { connectionInfo } from '../node/connection-info.ts'
import { withoutPrefix } from '../node/http/mount-prefix.ts'

/** How a controller is put in a Hono application. */
export interface HonoOptions {
  /**
   * Where the connection's facts come from; by default the Node request behind the context. There is no default header: a
   * header that anyone can send would be a forged certificate.
   */
  readonly connectionInfo?: (context: Context) => ConnectionInfo
}

const OPTIONS: OptionRules<HonoOptions> = { connectionInfo: 'function' }

/**
 * Mounts a controller in a Hono application. It answers every request that reaches it: mount it last, under the paths that are its own, or
 * below a prefix (also by `app.route`), which clients then name in their base URL; OpenZiti SDKs look for a controller at the root. On Node
 * the client certificates come from the TLS socket; on other runtimes, and behind a proxy that ends TLS, pass `connectionInfo`.
 *
 * @example
 * const app = new Hono()
 * app.get('/hello', (context) => context.text('hello'))
 * app.all('*', honoHandler(controller)) // or app.all('/ziti/*', honoHandler(controller))
 * await serve(controller, { port: 1280, app: getRequestListener(app.fetch) })
 */
export function honoHandler(controller: Pick<Controller, 'fetch'>, options: HonoOptions = {}): Handler {
  checkArgument('honoHandler', 'controller', controller, { functions: ['fetch'], isNeeded: true, hint: 'a controller' })
  checkOptions('honoHandler', options, OPTIONS)
  const infoOf = options.connectionInfo ?? nodeConnectionInfo
  return (context) => controller.fetch(requestOf(context), infoOf(context))
}

/** The request without the prefix of the route that it came by. */
function requestOf({ req }: Context): Request {
  const prefix = req.routePath.replace(/\/?\*$/, '')
  const url = new URL(req.url)
  const pathname = withoutPrefix(url.pathname, prefix)
  if (pathname === url.pathname) return req.raw
  url.pathname = pathname
  return new Request(url, req.raw)
}

function nodeConnectionInfo({ env }: Context): ConnectionInfo {
  const incoming = typeof env === 'object' && env !== null ? Reflect.get(env, 'incoming') : undefined
  return incoming === undefined ? {} : connectionInfo(incoming)
}
