import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import type { DrivenPage } from '../../support/driven-browser.ts'
import { issue } from '../../support/https-certificates.ts'
import { PASSWORD, type ServedGateway, servedGateway } from '../served-gateway.ts'

/** A gateway whose app writes down what it was asked, beside hosts of an attacker. */
export interface AttackedGateway {
  readonly world: ServedGateway
  /** The requests that reached the app, and their callers. */
  readonly atApp: { readonly asked: string; readonly caller: string }[]
  /** The requests that reached the gateway. */
  readonly atGateway: { readonly url: string; readonly cookie: string }[]
  /** Whether browsers are as they were before 2023, without `Sec-Fetch-Site`. */
  isOld: boolean
  /** The address of a host of the attacker, whose pages redirect to the address in `to` by the status in `by`. */
  evil(host: string): string
  close(): Promise<void>
}

function servePage({ caller }: IncomingMessage, response: ServerResponse): void {
  const text = `<!doctype html><title>A page</title><body>A page for ${caller?.name ?? 'everybody'}`
  response.writeHead(200, { 'content-type': 'text/html' }).end(text)
}

/** Serves both until they are closed. The app answers each page of another origin as if it trusted it. */
export async function attackedGateway(): Promise<AttackedGateway> {
  const world = await servedGateway({}, {}, 'localhost')
  const app = createServer((request, response) => {
    atApp.push({ asked: `${request.method} ${request.url}`, caller: request.caller?.name ?? '' })
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*')
    response.setHeader('access-control-allow-credentials', 'true')
    servePage(request, response)
  })
  app.on('upgrade', (request, socket) => {
    atApp.push({ asked: `websocket ${request.url}`, caller: request.caller?.name ?? '' })
    socket.end()
  })
  await world.net.as('host').host('payroll', app)
  await world.net.as('host').host('wiki', createServer(servePage))
  const { key, cert } = await issue('evil.localhost')
  const attacker = createTlsServer({ key, cert }, (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'https://evil.localhost')
    const to = searchParams.get('to')
    if (to === null) return servePage(request, response)
    response.writeHead(Number(searchParams.get('by')), { location: to, 'access-control-allow-origin': '*' }).end()
  })
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve))
  const { port } = attacker.address() as AddressInfo
  const atApp: AttackedGateway['atApp'] = []
  const attacked: AttackedGateway = {
    ...{ world, atApp, atGateway: [], isOld: false },
    evil: (host) => `https://${host}:${port}/`,
    close: async () => {
      attacker.closeAllConnections()
      attacker.close()
      await world.close()
    },
  }
  for (const event of ['request', 'upgrade']) {
    world.server.prependListener(event, ({ url = '', headers }: IncomingMessage) => {
      attacked.atGateway.push({ url, cookie: headers.cookie ?? '' })
      for (const name of attacked.isOld ? Object.keys(headers) : []) if (name.startsWith('sec-')) delete headers[name]
    })
  }
  return attacked
}

/** Logs in on the page that an address leads to, and waits until the browser is back. */
export async function logIn(page: DrivenPage, url: string, username = 'ann'): Promise<void> {
  await page.goTo(url)
  await page.type('#username', username)
  await page.type('#password', PASSWORD)
  await page.run(`setTimeout(() => document.querySelector('form').requestSubmit(), 50)`)
  await expect.poll(() => page.run('return location.href').catch(() => ''), { timeout: 20_000 }).toBe(url)
}
