import { fastify } from 'fastify'
import { fastifyController } from 'portcullis/fastify'
import { createListener, serve } from 'portcullis/node'
import { httpContract } from '../contract/http.ts'
import { ADAPTER_PART } from '../contract/http-part.ts'
import { socketMount } from '../support/socket-mount.ts'

httpContract(
  'portcullis/fastify',
  socketMount(async (controller) => {
    const answer = createListener(controller.fetch, { answerHeaders: () => controller.answerHeaders })
    // Fastify refuses some paths by itself; a host may let the controller answer them.
    const app = fastify({ frameworkErrors: (_error, request, reply) => answer(request.raw, reply.hijack().raw) })
    await app.register(fastifyController, { controller })
    await app.ready()
    const server = await serve(controller, { port: 0, app: app.routing })
    return { port: server.port, close: () => server.close({ graceMs: 0 }) }
  }),
  ADAPTER_PART,
)
