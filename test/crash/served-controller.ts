import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { portcullis, portIn, type RunOptions } from '../adapters/cli/cli-process.ts'
import { httpsClient } from '../support/https-fetch.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' } as const

/** An answer of the management API: its status, and the members of its envelope that tests look at. */
export interface Answer {
  readonly status: number
  readonly data: unknown
  /** How many records a list has in all; 0 for what is no list. */
  readonly totalCount: number
  readonly retryAfter: string | null
  /** Why it was refused, in words. */
  readonly cause: string | undefined
}

interface Envelope {
  readonly data?: unknown
  readonly error?: { readonly cause?: { readonly message?: string } }
  readonly meta: { readonly pagination?: { readonly totalCount: number } }
}

/** A `portcullis serve` process of its own, spoken to over HTTPS as its admin. */
export interface ServedController {
  readonly port: number
  /** Rejects when the process is gone before it answers. */
  ask(method: string, path: string, body?: object): Promise<Answer>
  /** Sends any request, with a client certificate if one is given. */
  readonly fetch: ReturnType<typeof httpsClient>['fetch']
  /** Holds the process still (SIGSTOP) until it is resumed (SIGCONT). */
  pause(): void
  resume(): void
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>
  /** Sends SIGTERM and waits for the end of the process. */
  stop(): Promise<void>
}

/** Starts a controller on a storage; `token` is a session that an earlier process on the same storage gave, if any. */
export async function serveOn(
  storage: string,
  cwd: string,
  token?: string,
  options: Pick<RunOptions, 'fileBlocks'> = {},
): Promise<ServedController & { readonly token: string }> {
  const variables = { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password }
  const running = portcullis(['serve', '--listen', '127.0.0.1:0', '--pki', 'pki', '--storage', storage], {
    ...options,
    cwd,
    variables,
  })
  const port = portIn(await running.ready)
  const { fetch, close } = httpsClient({ port, ca: await readFile(join(cwd, 'pki', 'ca.pem'), 'utf8') })
  const send = async (method: string, path: string, session: string, body?: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json', 'zt-session': session }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`/edge/management/v1${path}`, { method, headers, ...sent })
    // Every answer of the API is such an envelope.
    const { data, error, meta } = (await response.json()) as Envelope
    return {
      status: response.status,
      data,
      totalCount: meta.pagination?.totalCount ?? 0,
      retryAfter: response.headers.get('retry-after'),
      cause: error?.cause?.message,
    }
  }
  const end = async (signal: NodeJS.Signals) => {
    running.kill(signal)
    await running.ended
    close()
  }
  const session = token ?? textIn((await send('POST', '/authenticate?method=password', '', ADMIN)).data, 'token')
  return {
    port,
    token: session,
    ask: (method, path, body) => send(method, path, session, body),
    fetch,
    pause: () => running.kill('SIGSTOP'),
    resume: () => running.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

/** The text that an object holds under a name. */
export function textIn(data: unknown, name: string): string {
  const value: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined
  if (typeof value !== 'string') throw new Error(`no ${name} in ${JSON.stringify(data)}`)
  return value
}
