import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../support/edge-world.ts'
import { totp } from '../support/totp.ts'
import { PASSWORD, type ServedGateway, servedGateway } from './served-gateway.ts'

let world: ServedGateway
/** How the app answers; each test sets it. */
let app = (_request: IncomingMessage, response: ServerResponse): unknown => response.end('hello')
/** Connections of the app that changed to websocket. */
const sockets: Duplex[] = []

beforeAll(async () => {
  world = await servedGateway({ answerTimeoutMs: 1500, maxCircuitsPerLogin: 3, callerHeaders: { name: 'x-user' } })
  const server = createServer((request, response) => void app(request, response))
  server.on('upgrade', (_request, socket) => {
    sockets.push(socket)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\nwelcome ')
  })
  await world.net.as('host').host('payroll', server)
  await world.net.as('host').host('wiki', (request, response) => void response.end(`wiki for ${request.caller?.name}`))
})
beforeEach(() => {
  app = (_request, response) => response.end('hello')
  sockets.length = 0
})
afterAll(() => world.close())

/** Opens a websocket, and answers the browser's end of it. */
async function openSocket(browser: Awaited<ReturnType<ServedGateway['loggedIn']>>): Promise<Duplex> {
  const headers = { connection: 'Upgrade', upgrade: 'websocket', origin: world.origin('payroll') }
  const outgoing = browser.request(`${world.origin('payroll')}/socket`, { headers })
  outgoing.end()
  return new Promise((resolve, reject) => {
    outgoing.once('error', reject)
    outgoing.once('upgrade', (_answer, socket, head) => {
      socket.unshift(head)
      resolve(socket)
    })
  })
}

/** Resolves when a stream is gone, also where it was cut. */
function closed(stream: Readable): Promise<void> {
  stream.on('error', () => undefined).resume()
  return new Promise((resolve) => stream.once('close', () => resolve()))
}

/** More than buffers of sockets, of windows and of streams hold together. */
const MOST_HELD = 64 * 1024 * 1024

/** Whether a writer cannot go on for a while. */
function isStuck(outgoing: ClientRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), 500)
    outgoing.once('drain', () => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}

const policyOf = async (name: string) => {
  const { data } = await world.net.admin.call('GET /service-policies', { query: { filter: `name="${name}"` } })
  return data[0]?.id ?? ''
}

describe('a gateway', () => {
  it('leads a browser from a dark app to the login page and back, and dials as the identity that logged in', async () => {
    app = (request, response) =>
      response.end(`${request.url} for ${request.caller?.name}, ${request.headers['x-user']}`)
    const ann = world.browser()
    const url = `${world.origin('payroll')}/salaries?of=ann`
    expect(await ann.logIn(url, { username: 'ann', password: PASSWORD })).toMatchObject({
      ...{ status: 200, url, body: '/salaries?of=ann for ann, ann' },
    })
    expect((await ann.send(`${world.origin('payroll')}/again`)).body).toBe('/again for ann, ann')
    expect([...(ann.cookies.get('payroll.apps.test')?.keys() ?? [])].toSorted()).toEqual([
      '__Host-portcullis-gateway',
      '__Host-portcullis-gateway-login',
    ])
  })

  it('lists no app under the address of another one, whose name has other letters', async () => {
    const { data } = await world.net.admin.call('POST /services', { body: { name: 'Wiki', encryptionRequired: true } })
    const roles = { identityRoles: ['#staff'], serviceRoles: [`@${data.id}`] }
    const policy = { name: 'capitals', type: 'Dial' as const, semantic: 'AnyOf' as const, ...roles }
    await world.net.admin.call('POST /service-policies', { body: policy })
    const ann = await world.loggedIn()
    const list = await ann.goTo(`${world.origin('home')}/`)
    expect(list.body).toContain('>wiki<')
    expect(list.body).not.toContain('>Wiki<')
  })

  it('asks for no password at the next app, lists the apps, and a logout ends the session at each of them', async () => {
    const ann = await world.loggedIn()
    const wiki = await ann.goTo(`${world.origin('wiki')}/`)
    expect(wiki).toMatchObject({ status: 200, body: 'wiki for ann' })
    const list = await ann.goTo(`${world.origin('home')}/`)
    expect([...list.body.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
      `${world.origin('payroll')}/`,
      `${world.origin('wiki')}/`,
    ])
    const headers = { 'sec-fetch-site': 'same-origin' }
    const out = await ann.send(`${world.origin('wiki')}/.portcullis/logout`, { method: 'POST', headers })
    expect(out.status).toBe(200)
    for (const label of ['payroll', 'wiki', 'home']) {
      const left = await ann.goTo(`${world.origin(label)}/`)
      expect(new URL(left.url).hostname).not.toMatch(/apps\.test$/)
    }
  })

  it('carries an upload no faster than its app reads it, and answers while it arrives', async () => {
    const ann = await world.loggedIn()
    let read = 0
    let start: () => void = () => undefined
    app = (request, response) => {
      response.write('begun ')
      start = () =>
        request.on('data', (piece: Buffer) => (read += piece.length)).on('end', () => response.end(`${read}`))
    }
    const outgoing = ann.request(`${world.origin('payroll')}/upload`, { method: 'POST' })
    const answered = once(outgoing, 'response')
    const piece = Buffer.alloc(256 * 1024, 7)
    outgoing.write(piece)
    const [answer]: IncomingMessage[] = await answered
    if (answer === undefined) throw new Error('no answer')
    let body = ''
    answer.setEncoding('utf8').on('data', (text: string) => (body += text))
    await until(() => body === 'begun ')
    // The app reads nothing: its writer is held up long before the whole.
    let sent = piece.length
    let isFull = false
    while (!isFull && sent < MOST_HELD) {
      sent += piece.length
      if (!outgoing.write(piece)) isFull = await isStuck(outgoing)
    }
    expect(sent).toBeLessThan(MOST_HELD)
    start()
    outgoing.end()
    await once(answer, 'end')
    expect(body).toBe(`begun ${sent}`)
  })

  it('carries websockets, and each end of one may end its own direction', async () => {
    const ann = await world.loggedIn()
    const socket = await openSocket(ann)
    const [far] = sockets.splice(0)
    if (far === undefined) throw new Error('the app has no websocket')
    socket.setEncoding('utf8')
    let heard = ''
    socket.on('data', (text: string) => (heard += text))
    await until(() => heard === 'welcome ')
    far.once('data', (piece: Buffer) => far.write(`${piece.toString()} back `))
    socket.write('there')
    await until(() => heard === 'welcome there back ')
    const ended = once(far, 'end')
    far.resume()
    socket.end()
    await ended
    far.end('and last')
    await until(() => heard === 'welcome there back and last')
  })

  it('cuts answers and websockets when access is lost, and says why in words that name nothing of the network', async () => {
    const ann = await world.loggedIn()
    app = (_request, response) => response.write('begun')
    const answer = await ann.open(`${world.origin('payroll')}/stream`)
    const cutAnswer = closed(answer)
    const socket = await openSocket(ann)
    const cutSocket = closed(socket)
    const id = await policyOf('staff')
    const { data: policy } = await world.net.admin.call('GET /service-policies/{id}', { params: { id } })
    const patch = (serviceRoles: string[]) =>
      world.net.admin.call('PATCH /service-policies/{id}', { params: { id }, body: { serviceRoles } })
    await patch([])
    await Promise.all([cutAnswer, cutSocket])
    expect(answer.complete).toBe(false)
    const refused = await ann.goTo(`${world.origin('payroll')}/`)
    await patch([...policy.serviceRoles])
    expect(refused.status).toBe(403)
    expect(refused.body).toContain(
      '&#39;ann&#39; may not dial &#39;payroll&#39;: no service of this name is open to it.',
    )
    expect(refused.body).not.toMatch(/staff|policy|router/)
    const unknown = await ann.goTo(`${world.origin('unknown')}/`)
    expect(unknown.body.replaceAll('unknown', 'payroll')).toBe(refused.body)
  })

  it('cuts everything when its API session ends, and asks for a login again', async () => {
    const ann = await world.loggedIn()
    app = (_request, response) => response.write('begun')
    const answer = await ann.open(`${world.origin('payroll')}/stream`)
    const cut = closed(answer)
    const { data } = await world.net.admin.call('GET /api-sessions', { query: { limit: 500 } })
    for (const { id, identity } of data) {
      if (identity?.name === 'ann') await world.net.admin.call('DELETE /api-sessions/{id}', { params: { id } })
    }
    await cut
    const next = await ann.send(`${world.origin('payroll')}/`, { headers: { 'sec-fetch-mode': 'navigate' } })
    expect(next).toMatchObject({ status: 303 })
    expect(next.headers.location).toMatch(`${world.origin('home')}/.portcullis/login`)
    const program = await ann.send(`${world.origin('payroll')}/`)
    expect([program.status, JSON.parse(program.body).error.code]).toEqual([401, 'NOT_LOGGED_IN'])
  })

  it('gives up on an app that does not answer, and opens no more circuits than a login may have', async () => {
    const ann = await world.loggedIn()
    const held: ServerResponse[] = []
    app = (_request, response) => void held.push(response)
    const waiting = [1, 2, 3].map(() => ann.send(`${world.origin('payroll')}/slow`))
    await until(() => held.length === 3)
    expect(await ann.send(`${world.origin('payroll')}/more`)).toMatchObject({ status: 503 })
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([504, 504, 504])
  })

  it('lets a login with a second factor pass the check of the second factor, and says when it is missing', async () => {
    const { net, origin } = world
    const check = { name: 'second factor', typeId: 'MFA' as const, roleAttributes: ['mfa'] }
    await net.admin.call('POST /posture-checks', { body: check })
    const id = await policyOf('staff')
    const patch = (postureCheckRoles: string[]) =>
      net.admin.call('PATCH /service-policies/{id}', { params: { id }, body: { postureCheckRoles } })
    const ann = await world.loggedIn()
    await patch(['#mfa'])
    const refused = await ann.goTo(`${origin('payroll')}/`)
    expect(refused.status).toBe(403)
    expect(refused.body).toContain('The MFA check fails: no second factor was proved in the API session.')
    const { secret } = await net.totp('ann')
    app = (_request, response) => response.end('with both')
    const again = world.browser()
    const asked = await again.logIn(`${origin('payroll')}/`, { username: 'ann', password: PASSWORD })
    const requestId = /name="id" value="([^"]+)"/.exec(asked.body)?.[1] ?? ''
    const code = totp(secret, net.clock.now() + 30_000)
    const seen = await again.goTo(new URL('/oidc/login/totp', asked.url).href, 'POST', { id: requestId, code })
    await patch([])
    expect(seen).toMatchObject({ status: 200, body: 'with both' })
  })
})
