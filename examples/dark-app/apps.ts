import express, { type Express } from 'express'
import { Hono } from 'hono'
import type { Caller } from 'portcullis/sdk'

/** An Express app: it authorizes by who calls. */
export function wiki(): Express {
  const app = express()
  app.get('/', (request, response) => response.send(`the wiki, for ${request.caller?.name}`))
  app.get('/admin', (request, response) => {
    if (request.caller?.name === 'keeper') response.send('the settings')
    else response.sendStatus(403)
  })
  return app
}

/** A Hono app, which reads the caller in its environment. */
export function payroll(): Hono<{ Bindings: { caller: Caller } }> {
  const app = new Hono<{ Bindings: { caller: Caller } }>()
  app.get('/', (context) => context.json({ salaries: [], for: context.env.caller.name }))
  return app
}
