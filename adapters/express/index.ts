import type { RequestHandler } from 'express'
import type { Controller } from '../../src/index.ts'
import { createListener, type ListenerOptions } from '../node/index.ts'

/**
 * Mounts a controller in an Express application: `app.use(expressHandler(controller))`. It answers every request that
 * reaches it, so mount it last or under the paths that are its own. A body that `express.json()` has read already is taken
 * as it is. Client certificates come from the TLS socket; where a proxy ends TLS, pass `connectionInfo`.
 */
export function expressHandler(
  controller: Pick<Controller, 'answerHeaders' | 'fetch'>,
  options?: ListenerOptions,
): RequestHandler {
  return createListener(controller.fetch, { answerHeaders: () => controller.answerHeaders, ...options })
}
