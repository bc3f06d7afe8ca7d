import { expect } from 'vitest'
import { serveOn, textIn } from '../crash/served-controller.ts'

export interface Told {
  readonly status: number
  readonly data: unknown
  readonly total: number
  readonly text: string
}

/** Sends a request to one of the two processes. */
export type Send = (method: string, path: string, body?: object) => Promise<Told>

export interface TwoProcesses {
  /** Speaks to a process with an API session, or without one; paths are below `/edge`, except those of `/portcullis`. */
  as(process: 0 | 1, token?: string): Send
  /** The management API as the admin, whose session may change. */
  admin(process: 0 | 1): Send
  /** Logs in by password at one process, and answers the token. */
  login(process: 0 | 1, credentials: Credentials): Promise<string>
  /** From now on the admin has a new session. */
  renewAdmin(): Promise<void>
  readonly adminId: string
  stop(): Promise<void>
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

const isOfOwnApi = (path: string) => path.startsWith('/portcullis/')

/** Two `portcullis serve` processes over one storage. */
export async function twoProcesses(storage: string, cwd: string): Promise<TwoProcesses> {
  const first = await serveOn(storage, cwd)
  const second = await serveOn(storage, cwd, first.token)
  const processes = [first, second] as const
  let adminToken = first.token
  const as =
    (process: 0 | 1, token?: string): Send =>
    async (method, path, body) => {
      const headers = { 'content-type': 'application/json', ...(token !== undefined && { 'zt-session': token }) }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await processes[process].fetch(isOfOwnApi(path) ? path : `/edge${path}`, {
        method,
        headers,
        ...sent,
      })
      const text = await response.text()
      const envelope: unknown = text.startsWith('{') ? JSON.parse(text) : {}
      const meta = Object(Reflect.get(Object(envelope), 'meta'))
      const data: unknown = Reflect.get(Object(envelope), 'data')
      const total = Number(Object(meta.pagination).totalCount ?? 0)
      return { status: response.status, data, total, text }
    }
  const admin =
    (process: 0 | 1): Send =>
    (method, path, body) =>
      as(process, adminToken)(method, isOfOwnApi(path) ? path : `/management/v1${path}`, body)
  const login = async (process: 0 | 1, credentials: Credentials) => {
    const told = await as(process)('POST', '/client/v1/authenticate?method=password', credentials)
    expect(told.status, told.text).toBe(200)
    return textIn(told.data, 'token')
  }
  return {
    as,
    admin,
    login,
    adminId: textIn((await admin(0)('GET', '/current-identity')).data, 'id'),
    async renewAdmin() {
      adminToken = await login(0, { username: 'keeper', password: 'a-secret-of-mine' })
    },
    async stop() {
      await Promise.all(processes.map((process) => process.stop()))
    },
  }
}

/** Creates an entity as the admin and answers its id. */
export async function made(send: Send, path: string, body: object): Promise<string> {
  const told = await send('POST', path, body)
  expect(told.status, `${path} ${told.text}`).toBe(201)
  return textIn(told.data, 'id')
}
