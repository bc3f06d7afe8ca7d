import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { httpsFetch } from 'portcullis/node'
import type { Admin } from '../../examples/traffic/network.ts'
import { freePorts } from '../../examples/traffic/web.ts'
import { portcullis, portIn } from '../adapters/cli/cli-process.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
/** Longest wait (ms) for an answer: who waits longer counts it as none. */
const ANSWER_MS = 15_000

/** A controller of two workers, as its clients see it. */
export interface Served {
  readonly process: ReturnType<typeof portcullis>
  readonly url: string
  readonly fetch: (request: Request) => Promise<Response>
  token: string
}

/** Where a controller of two workers is served, and over which database. */
export interface WorkersPlace {
  /** The folder of its certificates and keys, shared by all. */
  readonly folder: string
  readonly storage: string
  /** Its port for clients; 0 lets the system choose. */
  readonly port: number
  /** The port for routers of its first worker; the second one has the next port. */
  readonly control: number
  /** The same of the other controller. */
  readonly other: number
  /** The folder of the source that it runs; this project unless given. */
  readonly project?: string
}

/** Starts a controller of two workers, and logs its administrator in. */
export async function serveWorkers({ folder, storage, port, control, other, project }: WorkersPlace): Promise<Served> {
  const where = ['--listen', `127.0.0.1:${port}`, '--workers', '2', '--rate-limits', 'off']
  // Each worker has a port for routers.
  where.push('--control-listen', `127.0.0.1:${control}`)
  for (const at of [other, other + 1]) where.push('--control-others', `127.0.0.1:${at}`)
  const process = portcullis(['serve', ...where, '--pki', 'pki', '--storage', storage], {
    cwd: folder,
    variables: { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password },
    ...(project !== undefined && { project }),
  })
  const url = `https://localhost:${portIn(await process.ready)}`
  const fetch = httpsFetch({ ca: await readFile(join(folder, 'pki/ca.pem'), 'utf8') })
  const served = { process, url, fetch, token: '' }
  served.token = await logIn(served)
  return served
}

/** Asks the management API of a controller; `token` is the session of its administrator unless given. */
export async function ask(
  { url, fetch, token: own }: Served,
  method: string,
  path: string,
  body?: object,
  token = own,
): Promise<Response> {
  return fetch(
    new Request(`${url}/edge/management/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'zt-session': token },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    }),
  )
}

/** Logs the administrator in; answers the token of the session. */
export async function logIn(at: Served): Promise<string> {
  const answer = await ask(at, 'POST', '/authenticate?method=password', ADMIN, '')
  const { data }: { readonly data: { readonly token: string } } = JSON.parse(await answer.text())
  return data.token
}

/** The management API of a controller, for what is set up before anything fails. */
export function adminOf(at: Served): Admin {
  const call: Admin['call'] = async (method, path, body) => {
    const answer = await ask(at, method, path, body)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text).data
  }
  return { call, create: async (path, body) => String((await call('POST', path, body)).id) }
}

/** Two ports that are free, and those that follow them: each worker takes one. */
export async function freePairs(): Promise<readonly number[]> {
  const ports = await freePorts(20)
  return ports
    .filter((port, at) => ports.every((other, index) => index === at || Math.abs(other - port) > 1))
    .slice(0, 2)
}

/** The names of all services that a controller lists. */
export async function* servicesAt(at: Served): AsyncIterable<ListedService> {
  for (let offset = 0; ; offset += 500) {
    const answer = await ask(at, 'GET', `/services?limit=500&offset=${offset}&sort=id`)
    const { data }: { readonly data: readonly ListedService[] } = JSON.parse(await answer.text())
    yield* data
    if (data.length < 500) return
  }
}

/** A service as a list shows it. */
export interface ListedService {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[] | null
}
