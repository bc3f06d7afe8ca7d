import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { type Controller, ControllerError } from 'portcullis'
import { ApiError, createManagementClient } from 'portcullis/client'
import { expressHandler } from 'portcullis/express'
import { loginPage, servicesPage } from './pages.ts'

const COOKIE = 'session'
const HOUR_MS = 3_600_000

/** The routes of the host: its own login page and a page behind it. What they do not answer, the controller does. */
export function createApp(controller: Controller): Express {
  const app = express()
  const management = createManagementClient({ baseUrl: 'https://localhost', fetch: controller.fetch })

  app.get('/', (request, response) => {
    response.redirect(sessionOf(request) === undefined ? '/login' : '/services')
  })
  app.get('/login', (_request, response) => void response.send(loginPage()))
  app.post('/login', express.urlencoded({ limit: '4kb' }), async (request, response) => {
    const { username = '', password = '' } = request.body
    try {
      const body = { username: String(username), password: String(password) }
      const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body })
      response.cookie(COOKIE, data.token, { httpOnly: true, secure: true, sameSite: 'strict', maxAge: HOUR_MS })
      response.redirect(303, '/services')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      response.status(error.status).send(loginPage('The user name or the password is wrong.'))
    }
  })
  app.get('/services', async (request, response) => {
    const token = sessionOf(request)
    if (token === undefined) return response.redirect('/login')
    const { data } = await management.withToken(token).call('GET /services', { query: { sort: 'name' } })
    return response.send(servicesPage(data.map(({ name }) => name)))
  })
  app.post('/logout', async (request, response) => {
    const token = sessionOf(request)
    if (token !== undefined)
      await management
        .withToken(token)
        .call('DELETE /current-api-session')
        .catch(() => undefined)
    response.clearCookie(COOKIE).redirect(303, '/login')
  })
  app.use(expressHandler(controller))
  app.use(backToLogin)
  return app
}

/** A session that is over sends to the login; everything else is a fault, which Express answers. */
function backToLogin(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  const isOver = error instanceof ApiError && error.status === 401
  if (isOver || error instanceof ControllerError) response.clearCookie(COOKIE).redirect(303, '/login')
  else next(error)
}

function sessionOf({ headers }: Request): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  return pairs.find(([name]) => name === COOKIE)?.[1]
}
