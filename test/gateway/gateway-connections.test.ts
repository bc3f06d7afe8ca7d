import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServedGateway, servedGateway } from './served-gateway.ts'

let world: ServedGateway
const opened: TLSSocket[] = []
beforeAll(async () => {
  world = await servedGateway({ maxConnections: 6, maxConnectionsPerAddress: 4 })
})
afterAll(async () => {
  for (const socket of opened) socket.destroy()
  await world.close()
})

/** A connection of a stranger, who keeps the own end open whatever the gateway does. */
async function stranger(): Promise<TLSSocket> {
  const address = { host: '127.0.0.1', port: world.port, servername: 'payroll.apps.test' }
  const options = { ...address, rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connect(options)
  opened.push(socket)
  socket.on('error', () => undefined).resume()
  await once(socket, 'secureConnect')
  return socket
}

const held = () => new Promise((resolve) => world.server.getConnections((_error, count) => resolve(count)))

it('ends the connection of a stranger who asks for a websocket and keeps the own end open', async () => {
  const socket = await stranger()
  const upgrade = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', '', '']
  socket.write(['GET / HTTP/1.1', `host: payroll.apps.test:${world.port}`, ...upgrade].join('\r\n'))
  expect(String(await once(socket, 'data'))).toContain('401')
  await expect.poll(held, { timeout: 10_000, interval: 100 }).toBe(0)
})

it('holds as many connections as it may; a silent one makes room, and none that an app is answering', async () => {
  const answers: (() => void)[] = []
  await world.net.as('host').host('payroll', (request, response) => {
    if (request.url === '/late') answers.push(() => response.end('late'))
    else response.end('at once')
  })
  const browser = await world.loggedIn()
  const late = browser.send(`${world.origin('payroll')}/late`)
  await expect.poll(() => answers).toHaveLength(1)
  for (let count = 0; count < 12; count++) await stranger()
  await expect.poll(held).toBe(4)
  for (const answer of answers) answer()
  expect(await late).toMatchObject({ status: 200, body: 'late' })
})
