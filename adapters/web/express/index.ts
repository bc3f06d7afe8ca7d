/**
 * A controller in an Express application.
 *
 * @module portcullis/express
 */

import type { RequestHandler } from 'express'
import { checkArgument } from '../../../src/base/arguments.ts'
import type { Controller } from '../../../src/index.ts'
import { createListener, type ListenerOptions } from '../node/index.ts'

/**
 * Mounts a controller in an Express application. It answers every request that reaches it, so mount it last, under the paths
 * that are its own, or below a prefix, which clients then name in their base URL; OpenZiti SDKs look for a controller at the
 * root. A body that `express.json()` has read already is taken as it is. Client certificates come from the TLS socket; where
 * a proxy ends TLS, pass `connectionInfo`.
 *
 * @example
 * const app = express()
 * app.get('/hello', (_request, response) => void response.send('hello'))
 * app.use(expressHandler(controller)) // or app.use('/ziti', expressHandler(controller))
 * await serve(controller, { port: 1280, app })
 */
export function expressHandler(
  controller: Pick<Controller, 'answerHeaders' | 'fetch'>,
  options?: ListenerOptions,
): RequestHandler {
  checkArgument('expressHandler', 'controller', controller, {
    functions: ['fetch'],
    isNeeded: true,
    hint: 'a controller',
  })
  return createListener(controller.fetch, { answerHeaders: () => controller.answerHeaders, ...options })
}
