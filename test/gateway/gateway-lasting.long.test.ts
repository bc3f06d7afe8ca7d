import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { servedGateway } from './served-gateway.ts'

/** Milliseconds of the shortest lifetime that access tokens may have. */
const TOKEN_MS = 60_000

it(
  'a login of a browser outlasts its access tokens, and so does a websocket: they are refreshed',
  async () => {
    const world = await servedGateway({}, { oidc: { accessTokenLifetimeMs: TOKEN_MS } })
    onTestFinished(() => world.close())
    const app = createServer((_request, response) => void response.end('hello'))
    app.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
      socket.on('data', (data) => socket.write(data))
      socket.on('error', () => undefined)
    })
    await world.net.as('host').host('payroll', app)
    const browser = await world.loggedIn()
    const headers = { connection: 'Upgrade', upgrade: 'websocket', origin: world.origin('payroll') }
    const outgoing = browser.request(`${world.origin('payroll')}/socket`, { headers })
    outgoing.end()
    const socket = await new Promise<Duplex>((resolve, reject) => {
      outgoing.once('error', reject)
      outgoing.once('upgrade', (_answer, opened) => resolve(opened))
    })
    const heard: string[] = []
    socket.on('data', (data) => heard.push(String(data)))
    socket.on('error', () => heard.push('an error'))
    const end = performance.now() + 1.4 * TOKEN_MS
    for (let round = 0; performance.now() < end; round += 1) {
      const { status, body } = await browser.send(`${world.origin('payroll')}/`)
      expect([round, status, body]).toEqual([round, 200, 'hello'])
      socket.write(`${round} `)
      await sleep(5000)
      expect(heard.join('')).toMatch(new RegExp(`${round} $`))
    }
    socket.destroy()
  },
  6 * TOKEN_MS,
)
