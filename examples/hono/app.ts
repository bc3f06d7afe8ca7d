import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { html } from 'hono/html'
import type { Controller } from 'portcullis'
import { ApiError, createManagementClient } from 'portcullis/client'
import { honoHandler } from 'portcullis/hono'

const COOKIE = 'session'

/** The routes of the host: its own login page and a page behind it. What they do not answer, the controller does. */
export function createApp(controller: Controller): Hono {
  const app = new Hono()
  const management = createManagementClient({ baseUrl: 'https://localhost', fetch: controller.fetch })

  app.get('/', (context) => context.redirect(getCookie(context, COOKIE) === undefined ? '/login' : '/services'))
  app.get('/login', (context) => context.html(loginPage('')))
  app.post('/login', async (context) => {
    const { username = '', password = '' } = await context.req.parseBody()
    try {
      const body = { username: String(username), password: String(password) }
      const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body })
      setCookie(context, COOKIE, data.token, { httpOnly: true, secure: true, sameSite: 'Strict', maxAge: 3600 })
      return context.redirect('/services', 303)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return context.html(loginPage('The user name or the password is wrong.'), 401)
    }
  })
  app.get('/services', async (context) => {
    const token = getCookie(context, COOKIE)
    if (token === undefined) return context.redirect('/login')
    const { data } = await management.withToken(token).call('GET /services', { query: { sort: 'name' } })
    return context.html(page('Services', html`<ul>${data.map(({ name }) => html`<li>${name}</li>`)}</ul>`))
  })
  app.all('*', honoHandler(controller))
  app.onError((error, context) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    deleteCookie(context, COOKIE)
    return context.redirect('/login', 303)
  })
  return app
}

function page(title: string, body: ReturnType<typeof html>) {
  return html`<!doctype html>
    <html lang="en">
      <head><meta charset="utf-8" /><meta name="viewport" content="width=device-width" /><title>${title}</title></head>
      <body><main><h1>${title}</h1>${body}</main></body>
    </html>`
}

function loginPage(problem: string) {
  return page(
    'Log in',
    html`<p role="alert">${problem}</p>
      <form method="post" action="/login">
        <p><label>User name <input name="username" autocomplete="username" required /></label></p>
        <p><label>Password <input name="password" type="password" autocomplete="current-password" required /></label></p>
        <p><button>Log in</button></p>
      </form>`,
  )
}
