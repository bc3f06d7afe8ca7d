import type { Context, Handler } from 'hono'
import type { ConnectionInfo, Controller } from '../../src/index.ts'
import { connectionInfo } from '../node/connection-info.ts'

/** How a controller is put in a Hono application. */
export interface HonoOptions {
  /**
   * Where the connection's facts come from; by default the Node request behind the context. There is no default header: a
   * header that anyone can send would be a forged certificate.
   */
  readonly connectionInfo?: (context: Context) => ConnectionInfo
}

/**
 * Mounts a controller in a Hono application: `app.all('*', honoHandler(controller))`. On Node the client certificates come
 * from the TLS socket; on other runtimes, and behind a proxy that ends TLS, pass `connectionInfo`.
 */
export function honoHandler(controller: Pick<Controller, 'fetch'>, options: HonoOptions = {}): Handler {
  const infoOf = options.connectionInfo ?? nodeConnectionInfo
  return (context) => controller.fetch(context.req.raw, infoOf(context))
}

function nodeConnectionInfo({ env }: Context): ConnectionInfo {
  const incoming = typeof env === 'object' && env !== null ? Reflect.get(env, 'incoming') : undefined
  return incoming === undefined ? {} : connectionInfo(incoming)
}
