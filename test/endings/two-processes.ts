import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { type Controller, createController, type PkiMaterial } from 'portcullis'
import { openControlListener } from 'portcullis/fabric'
import { snapshotSqlite, sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import type { Storage } from 'portcullis/storage'
import {
  type EnrolledRouter,
  fakeClock,
  fakeScheduler,
  plainPasswordHasher,
  recordingLogger,
  seededRandom,
  TEST_ADMIN,
} from 'portcullis/testing'
import type { ClientCertificate, RawRequest } from '../contract/http/mount.ts'
import type { PlayedDirectory } from './played-directory.ts'
import { RouterEar } from './router-ear.ts'

export const URL_OF_ALL = 'https://controller.test:1280'

/** The end of the control channels of one process. */
type OpenListener = Awaited<ReturnType<typeof openControlListener>>

/** Two processes over one store. */
export type ProcessName = 'A' | 'B'
export const PROCESSES: readonly ProcessName[] = ['A', 'B']
export const otherThan = (name: ProcessName): ProcessName => (name === 'A' ? 'B' : 'A')

/** The parts of a request beside its path. */
export interface Asking {
  /** The token of `zt-session`. */
  readonly zt?: string | undefined
  readonly bearers?: readonly string[]
  readonly json?: unknown
  readonly text?: string
  readonly form?: Readonly<Record<string, string>>
  readonly certificate?: ClientCertificate | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
  readonly body: any
}

/** A channel of an operator's program, which is told events. */
export interface OpenOperator {
  /** Whether the controller closed it. */
  isOver(): boolean
  close(): void
}

/** One process: its two APIs, its OpenID provider, and the end of its control channels that routers hold. */
export class Process {
  readonly name: ProcessName
  readonly controller: Controller
  readonly listener: OpenListener
  /** The lines of the log. */
  readonly logged: ReturnType<typeof recordingLogger>['entries']
  readonly routers = new Map<string, RouterEar>()
  #adminToken: string | undefined

  constructor(
    name: ProcessName,
    controller: Controller,
    listener: OpenListener,
    logged: ReturnType<typeof recordingLogger>['entries'],
  ) {
    this.name = name
    this.controller = controller
    this.listener = listener
    this.logged = logged
  }

  fetch(path: string, request: RawRequest = {}, client?: ClientCertificate): Promise<Response> {
    const { body, authorizations: _none, ...rest } = request
    const content = typeof body === 'string' ? new TextEncoder().encode(body) : body
    const sent = new Request(`${URL_OF_ALL}${path}`, { ...rest, ...(content === undefined ? {} : { body: content }) })
    const clientCertificates = client === undefined ? [] : chainOf(client.cert)
    return this.controller.fetch(sent, { remoteAddress: '127.0.0.1', clientCertificates })
  }

  /** Opens a channel as programs of operators do; undefined where it is refused. */
  async operate({ zt, bearers = [], certificate }: Asking): Promise<OpenOperator | undefined> {
    const headers = new Headers(zt === undefined ? {} : { 'zt-session': zt })
    if (bearers.length > 0) headers.set('authorization', bearers.map((token) => `Bearer ${token}`).join(', '))
    const clientCertificates = certificate === undefined ? [] : chainOf(certificate.cert)
    const request = { method: 'GET', url: `${URL_OF_ALL}/fabric/v1/ws-api`, headers, readBody: () => undefined }
    const { upgrade } = (await this.controller.fetch.plain?.(request, { clientCertificates })) ?? {}
    if (upgrade === undefined) return undefined
    let isOver = false
    const close = () => {
      isOver = true
    }
    const session = upgrade({ send: () => undefined, close })
    const body = JSON.stringify({ format: 'json', subscriptions: [{ type: 'entityChange' }] })
    const told = await session.receive({ type: 'stream-events', body })
    if (told?.reply.type !== 'result' || !told.reply.success) return undefined
    return { isOver: () => isOver, close: () => session.closed() }
  }

  async ask(method: string, path: string, asking: Asking = {}): Promise<Answered> {
    const { zt, bearers = [], json, text, form, certificate, headers } = asking
    const body =
      json !== undefined ? JSON.stringify(json) : form !== undefined ? String(new URLSearchParams(form)) : text
    const type =
      json !== undefined ? 'application/json' : form !== undefined ? 'application/x-www-form-urlencoded' : 'text/plain'
    const request = {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': type }),
        ...(zt === undefined ? {} : { 'zt-session': zt }),
        ...(bearers.length === 0 ? {} : { authorization: bearers.map((token) => `Bearer ${token}`).join(', ') }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    }
    const response = await this.fetch(path, request, certificate)
    const answer = await response.text()
    const location = response.headers.get('location')
    if (location !== null) return { status: response.status, body: { location } }
    return { status: response.status, body: isJson(answer) ? JSON.parse(answer) : answer }
  }

  /** Asks as the administrator, in whose name a session is there whenever one is needed. */
  async admin(method: string, path: string, sent?: unknown): Promise<Answered> {
    const full = /^\/(?:fabric|portcullis)\//.test(path) ? path : `/edge/management/v1${path}`
    const asking: Asking = sent === undefined ? {} : typeof sent === 'string' ? { text: sent } : { json: sent }
    if (this.#adminToken !== undefined) {
      const answer = await this.ask(method, full, { ...asking, zt: this.#adminToken })
      if (answer.status !== 401) return answer
    }
    const login = { json: TEST_ADMIN }
    this.#adminToken = (
      await this.ask('POST', '/edge/management/v1/authenticate?method=password', login)
    ).body.data?.token
    return this.ask(method, full, { ...asking, zt: this.#adminToken })
  }

  /** The data of an answer to the administrator. Throws for a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
  async told(method: string, path: string, sent?: unknown): Promise<any> {
    const { status, body } = await this.admin(method, path, sent)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
    return body.data
  }

  async create(path: string, json: object): Promise<string> {
    return (await this.told('POST', path, json)).id
  }

  /** Connects a router to this process. */
  async connect(router: EnrolledRouter): Promise<RouterEar> {
    const ear = new RouterEar(router, this.listener)
    await ear.connect()
    this.routers.set(router.id, ear)
    return ear
  }

  router(id: string): RouterEar {
    const router = this.routers.get(id)
    if (router === undefined) throw new Error(`no router ${id} at ${this.name}`)
    return router
  }

  async close(): Promise<void> {
    await this.listener.close()
    await this.controller.close()
  }
}

/** A store that both processes open. */
export interface SharedStore {
  open(): Promise<Storage>
  /** A copy, to which nothing happens that happens to this one. */
  fork(): Promise<SharedStore>
}

/** A store in the memory of both, which outlives a process. */
export function memoryStore(storage = memoryStorage()): SharedStore {
  return {
    open: async () => ({ ...storage, close: async () => undefined }),
    fork: async () => memoryStore(storage.fork()),
  }
}

let forks = 0

/** A SQLite file, which each process opens by itself. */
export function sqliteStore(folder: string, file = 'network.db'): SharedStore {
  return {
    open: () => sqliteStorage(join(folder, file), { synchronous: 'normal' }),
    fork: async () => {
      forks += 1
      await snapshotSqlite(join(folder, file), join(folder, `fork-${forks}.db`))
      return sqliteStore(folder, `fork-${forks}.db`)
    },
  }
}

/** Two processes with one clock. */
export interface TwoProcesses {
  readonly A: Process
  readonly B: Process
  readonly store: SharedStore
  now(): number
  /** Runs `work` after milliseconds of the clock; answers what cancels it. */
  timer(ms: number, work: () => void): () => void
  /** Lets time pass: what either process does by itself in it is done. */
  elapse(milliseconds: number): Promise<void>
  close(): Promise<void>
}

/** Keys of authorities that are made are sealed with it. */
const SECRETS_KEY = new Uint8Array(32).fill(7)

/** Starts both processes over a store, which ask a directory if there is one. */
export async function startTwo(
  store: SharedStore,
  pki: PkiMaterial,
  now: number,
  directory?: PlayedDirectory,
): Promise<TwoProcesses> {
  const clock = fakeClock(now)
  const scheduler = fakeScheduler(clock)
  const seen = await store.open()
  const revision = await seen.read(async (tx) => tx.revision)
  await seen.close()
  const start = async (name: ProcessName) => {
    const logger = recordingLogger()
    const controller = await createController({
      address: 'controller.test:1280',
      storage: await store.open(),
      pki,
      secretsKey: SECRETS_KEY,
      clock,
      scheduler,
      logger,
      admin: TEST_ADMIN,
      random: seededRandom(revision + (name === 'A' ? 1 : 500_000)),
      passwordHasher: plainPasswordHasher,
      rateLimits: false,
      ...(directory && { directory: directory.at(name) }),
      // Many log in by one secret within thirty seconds here.
      allowTotpReuse: true,
    })
    const heartbeat = { everyMs: 3_600_000, silenceMs: 7_200_000 }
    const options = { addresses: [`tls:${name.toLowerCase()}.controller.test:6262`], heartbeat }
    return new Process(name, controller, await openControlListener(controller, options), logger.entries)
  }
  const [A, B] = [await start('A'), await start('B')]
  return {
    A,
    B,
    store,
    now: () => clock.now(),
    timer: (ms, work) => scheduler.at(clock.now() + ms, async () => work()),
    elapse: (milliseconds) => scheduler.runUntil(clock.now() + milliseconds),
    close: async () => {
      await A.close().catch(() => undefined)
      await B.close().catch(() => undefined)
    },
  }
}

function chainOf(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new Uint8Array(new X509Certificate(block).raw))
}

function isJson(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[')
}
