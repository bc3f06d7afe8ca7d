import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Controller } from 'portcullis'
import { ApiError, createManagementClient } from 'portcullis/client'
import { fastifyController } from 'portcullis/fastify'
import { loginPage, servicesPage } from '../express/pages.ts'

const COOKIE = 'session'
const FORM = 'application/x-www-form-urlencoded'
const HTML = 'text/html; charset=utf-8'

/** The routes of the host: its own login page and a page behind it. What they do not answer, the controller does. */
export async function createApp(controller: Controller): Promise<FastifyInstance> {
  const app = fastify()
  const management = createManagementClient({ baseUrl: 'https://localhost', fetch: controller.fetch })
  app.addContentTypeParser(
    FORM,
    { parseAs: 'string', bodyLimit: 4096 },
    async (_request: FastifyRequest, text: string) => Object.fromEntries(new URLSearchParams(text)),
  )

  app.get('/', async (request, reply) => reply.redirect(sessionOf(request) === undefined ? '/login' : '/services'))
  app.get('/login', async (_request, reply) => reply.type(HTML).send(loginPage()))
  app.post<{ Body: { username?: string; password?: string } }>('/login', async ({ body }, reply) => {
    const { username = '', password = '' } = body
    try {
      const query = { method: 'password' as const }
      const { data } = await management.call('POST /authenticate', { query, body: { username, password } })
      const cookie = `${COOKIE}=${data.token}; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Strict`
      return reply.header('set-cookie', cookie).redirect('/services', 303)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return reply.code(401).type(HTML).send(loginPage('The user name or the password is wrong.'))
    }
  })
  app.get('/services', async (request, reply) => {
    const token = sessionOf(request)
    if (token === undefined) return reply.redirect('/login')
    const { data } = await management.withToken(token).call('GET /services', { query: { sort: 'name' } })
    return reply.type(HTML).send(servicesPage(data.map(({ name }) => name)))
  })
  app.post('/logout', async (request, reply) => {
    const token = sessionOf(request)
    if (token !== undefined) await management.withToken(token).call('DELETE /current-api-session')
    return loggedOut(reply)
  })
  app.setErrorHandler(async (error, _request, reply) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    return loggedOut(reply)
  })
  await app.register(fastifyController, { controller })
  await app.ready()
  return app
}

function loggedOut(reply: FastifyReply): FastifyReply {
  return reply.header('set-cookie', `${COOKIE}=; Max-Age=0; Path=/`).redirect('/login', 303)
}

function sessionOf({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  return pairs.find(([name]) => name === COOKIE)?.[1]
}
