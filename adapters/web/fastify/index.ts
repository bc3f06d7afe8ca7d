/**
 * A controller in a Fastify application.
 *
 * @module portcullis/fastify
 */

import type { FastifyInstance, RegisterOptions } from 'fastify'
import { checkArgument } from '../../../src/base/arguments.ts'
import type { Controller } from '../../../src/index.ts'
import { createListener, type ListenerOptions } from '../node/index.ts'

/** Which controller is mounted, and how. */
export interface FastifyControllerOptions extends ListenerOptions {
  readonly controller: Pick<Controller, 'answerHeaders' | 'fetch'>
}

/**
 * A plugin that mounts a controller in a Fastify application. It answers every path that has no route of its own, or every one below
 * `prefix`, which clients then name in their base URL; OpenZiti SDKs look for a controller at the root. It reads bodies itself, with its
 * own limits; other plugins keep their parsers. Client certificates come from the TLS socket; where a proxy ends TLS, pass
 * `connectionInfo`. Fastify itself refuses paths with invalid escapes, in a form of its own.
 *
 * @example
 * const app = fastify()
 * app.get('/hello', async () => 'hello')
 * await app.register(fastifyController, { controller })
 * await app.ready()
 * await serve(controller, { port: 1280, app: app.routing })
 */
export async function fastifyController(app: FastifyInstance, options: FastifyControllerOptions): Promise<void> {
  // Fastify adds options of its own to those of the plugin.
  const { controller, prefix, logLevel, logSerializers, ...rest }: FastifyControllerOptions & RegisterOptions = options
  checkArgument('fastifyController', 'controller', controller, {
    functions: ['fetch'],
    isNeeded: true,
    hint: 'a controller',
  })
  const listener = createListener(controller.fetch, { answerHeaders: () => controller.answerHeaders, ...rest })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.all('/*', (request, reply) => {
    reply.hijack()
    listener(Object.assign(request.raw, { originalUrl: request.raw.url, baseUrl: app.prefix }), reply.raw)
  })
}
