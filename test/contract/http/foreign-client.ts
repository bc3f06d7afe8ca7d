import { TEST_ADMIN } from 'portcullis/testing'
import { expect } from 'vitest'
import type { ClientCertificate, MountedController, RawRequest } from './mount.ts'

export const MANAGEMENT = '/edge/management/v1'
export const CLIENT = '/edge/client/v1'

/** An answer as a client without any knowledge of types reads it; `body` is the parsed JSON, if it is JSON. */
export type Answer = Awaited<ReturnType<typeof readAnswer>>

export interface Sent extends Omit<RawRequest, 'method' | 'body'> {
  /** Sent as JSON, with the content type that says so; text and bytes go out as they are. */
  readonly body?: unknown
}

/** Calls one API with an API session, or without any. */
export interface ForeignClient {
  readonly token: string | undefined
  send(method: string, path: string, sent?: Sent): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  put(path: string, body: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

/** A client of the API below `base` that knows HTTP and JSON and nothing of this package. */
export function foreignClient(
  mounted: MountedController,
  base: string,
  token?: string,
  certificate?: ClientCertificate,
): ForeignClient {
  const send = async (method: string, path: string, { body, headers }: Sent = {}) => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const request = {
      method,
      headers: {
        ...(isRaw ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'zt-session': token }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    }
    return readAnswer(await mounted.fetch(`${base}${path}`, request, certificate))
  }
  return {
    token,
    send,
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, { body }),
    put: (path, body) => send('PUT', path, { body }),
    patch: (path, body) => send('PATCH', path, { body }),
    delete: (path) => send('DELETE', path),
  }
}

/** The management API as the default admin. */
export async function adminOf(mounted: MountedController): Promise<ForeignClient> {
  return foreignClient(mounted, MANAGEMENT, await passwordLogin(mounted, TEST_ADMIN))
}

/** The token of a new API session. */
export async function passwordLogin(
  mounted: MountedController,
  credentials: { readonly username: string; readonly password: string },
): Promise<string> {
  const answer = await foreignClient(mounted, CLIENT).post('/authenticate?method=password', credentials)
  expect(answer.status).toBe(200)
  return answer.body.data.token
}

/** Creates an entity and answers its id. */
export async function create(api: ForeignClient, path: string, body: object): Promise<string> {
  const answer = await api.post(path, body)
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201, body: { data: { id: expect.any(String) } } })
  return answer.body.data.id
}

/** The wire form of an entity. */
export async function read(api: ForeignClient, path: string) {
  const answer = await api.get(path)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

async function readAnswer(response: Response) {
  const text = await response.text()
  const { status, headers } = response
  const isJson = headers.get('content-type') === 'application/json' && text !== ''
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined }
}
