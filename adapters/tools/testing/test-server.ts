import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { ControllerError } from '../../../src/index.ts'
import type { ModelInput } from '../../../src/model/index.ts'
import { createTestController, TEST_ADMIN } from './create-test-controller.ts'
import type { Fault, FaultFilter } from './faults.ts'
import { letEverybodyUse } from './routed-controller.ts'
import type { TestController } from './test-controller.ts'

/** A throwaway controller for tests in any language. */
export interface TestServerOptions {
  /** The initial network: an object, a YAML text with its name, or the name of a file. Default: an empty network. */
  readonly model?: ModelInput
  /** Whether its clock goes by itself, or stands still until a test turns it. Default: `live`. */
  readonly clock?: 'live' | 'turned'
  /** The address to bind. Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: 0, the system chooses. */
  readonly port?: number
  /** Runs an edge router on the same port, which every identity and service may use: SDKs dial and host by it. Default: false. */
  readonly router?: boolean
}

const OPTIONS: OptionRules<TestServerOptions> = {
  model: 'unknown',
  clock: { oneOf: ['live', 'turned'] },
  host: 'string',
  port: 'number',
  router: 'boolean',
}

/** The facts of a throwaway controller for a test, as one line of JSON. */
export interface TestServerFacts {
  /** `https://HOST:PORT` */
  readonly url: string
  /** The authorities by which clients know it, PEM. */
  readonly ca: string
  /** The administrator, and the token of a session of its own, for the header `zt-session`. */
  readonly admin: { readonly username: string; readonly password: string; readonly token: string }
  /** The enrollment tokens (JWT) of the identities of the model, by name. */
  readonly invitations: Readonly<Record<string, string>>
  /** Where the clock is turned and faults are injected, over plain HTTP: `docs/testing.md` lists the operations. */
  readonly control: string
}

/** A throwaway controller that runs. */
export interface TestServer {
  readonly facts: TestServerFacts
  close(): Promise<void>
}

/**
 * Serves a test controller over HTTPS, with everything that a test in any language needs to use it.
 *
 * @example
 * const server = await startTestServer({ model: 'network.yaml' })
 * console.log(JSON.stringify(server.facts))
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  checkOptions('startTestServer', options, OPTIONS)
  const { model, clock = 'live', host, port, router = false } = options
  const net = await createTestController({ clock })
  try {
    const listening = await net.listen({
      fabric: router,
      router,
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
    })
    const [own] = (await net.admin.call('GET /edge-routers')).data
    if (own !== undefined) await letEverybodyUse(net.admin, own.id)
    // Tokens name the address from here on.
    if (model !== undefined) await net.seed(model)
    const invitations: Record<string, string> = {}
    const invited = 'isDefaultAdmin = false and not (type = "Router")'
    for await (const { name } of net.admin.listAll('GET /identities', { filter: invited })) {
      invitations[name] = (await net.invite(name)).jwt
    }
    const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
    const { token } = (await net.management.call('POST /authenticate', login)).data
    const control = await openControl(net)
    const { url, ca } = listening
    return {
      facts: { url, ca, admin: { ...TEST_ADMIN, token }, invitations, control: control.url },
      close: async () => {
        await control.close()
        await net.close()
      },
    }
  } catch (error) {
    await net.close()
    throw error
  }
}

/** Greatest size of a request, in bytes: a request has a few members. */
const LONGEST_BODY = 65_536

/** A place over plain HTTP on this machine where a test in any language turns the clock and injects faults. */
interface TestControl {
  /** `http://127.0.0.1:PORT/KEY`; a caller needs the key. */
  readonly url: string
  close(): Promise<void>
}

/** A fault as it is asked for by JSON. */
interface AskedFault {
  readonly status?: number
  readonly retryAfterMs?: number
  readonly delayMs?: number
  readonly drop?: boolean
  readonly after?: boolean
  readonly storage?: string
  /** The route that it is for. Default: all. */
  readonly route?: string
  /** With every n-th request. Default: with the next one alone. */
  readonly every?: number
}

const CLOCK: OptionRules<{ readonly elapseMs: number }> = { elapseMs: { shape: 'number', isNeeded: true } }
const INVITATION: OptionRules<{
  readonly name: string
  readonly type?: string
  readonly isAdmin?: boolean
  readonly roleAttributes?: readonly string[]
}> = {
  name: { shape: 'string', isNeeded: true },
  type: { oneOf: ['Device', 'User', 'Service'] },
  isAdmin: 'boolean',
  roleAttributes: 'array',
}

type Work = (body: Readonly<Record<string, unknown>>, query: URLSearchParams) => unknown

/** The operations of a control, by method and path. */
function operationsOn(net: TestController): Readonly<Record<string, Work>> {
  // Earlier requests built the network.
  const earlier = net.requests.length
  return {
    'GET /clock': () => ({ now: new Date(net.clock.now()).toISOString() }),
    'POST /clock': async (body) => {
      checkOptions('clock', body, CLOCK)
      await net.elapse(Number(body.elapseMs))
      return { now: new Date(net.clock.now()).toISOString() }
    },
    'POST /faults': (body) => {
      // The plan of faults refuses an invalid fault.
      const { route, every, ...fault } = body as AskedFault
      const of = route as FaultFilter | undefined
      if (every === undefined) net.faults.next(fault as Fault, of)
      else net.faults.every(every, fault as Fault, of)
      return {}
    },
    'DELETE /faults': () => {
      net.faults.clear()
      return {}
    },
    'POST /invitations': (body) => {
      checkOptions('invitations', body, INVITATION)
      const { name, ...options } = body
      // The rules above have looked at it.
      return net.invite(String(name), options as Parameters<TestController['invite']>[1])
    },
    'GET /requests': () => net.requests.slice(earlier),
    'GET /reach': (_, query) => {
      const identity = query.get('identity')
      if (identity === null) throw new Error('reach needs an identity: GET /reach?identity=laptop')
      return net.reach(identity)
    },
  }
}

/** Opens the control of a test controller, on a port that the system chooses. */
async function openControl(net: TestController): Promise<TestControl> {
  const key = randomBytes(16).toString('hex')
  const operations = operationsOn(net)
  const server: Server = createServer(async (request, response) => {
    const { status, body } = await answer(request, key, operations)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the control has no port')
  return {
    url: `http://127.0.0.1:${address.port}/${key}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Answered {
  readonly status: number
  readonly body: unknown
}

async function answer(request: IncomingMessage, key: string, operations: Readonly<Record<string, Work>>) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (!pathname.startsWith(`/${key}/`)) return refused(404, 'there is nothing here')
  const name = `${request.method} ${pathname.slice(key.length + 1)}`
  const work = Object.hasOwn(operations, name) ? operations[name] : undefined
  if (work === undefined) return refused(404, `${name} is not there: ${Object.keys(operations).join(', ')}`)
  try {
    return { status: 200, body: await work(await bodyOf(request), searchParams) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return refused(error instanceof ControllerError ? 409 : 400, error.message)
  }
}

function refused(status: number, message: string): Answered {
  return { status, body: { error: message } }
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of request) {
    length += piece.length
    if (length > LONGEST_BODY) throw new Error('the body is too long')
    pieces.push(piece)
  }
  if (length === 0) return {}
  const body = jsonIn(Buffer.concat(pieces).toString())
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('the body is no JSON object')
  return { ...body }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error('the body is no JSON', { cause: error })
  }
}
