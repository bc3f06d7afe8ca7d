import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createClient, createManagementClient } from 'portcullis/client'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import ts from 'typescript'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const baseUrl = 'https://controller.test:1280'

async function loggingIn() {
  const controller = await createTestController(await withSharedPki())
  const logins: string[] = []
  const { management } = controller
  const login = async () => {
    const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })
    logins.push(data.token)
    return data.token
  }
  const admin = createManagementClient({ baseUrl, fetch: (request) => controller.fetch(request), login })
  return { controller, admin, logins }
}

describe('a client that can log in', () => {
  it('does so before its first request, once for all that wait for it', async () => {
    const { admin, logins } = await loggingIn()
    expect(logins).toHaveLength(0)
    await Promise.all([admin.call('GET /services'), admin.call('GET /identities'), admin.call('GET /services')])
    expect(logins).toHaveLength(1)
  })

  it('does so again when its session has ended, and sends the request once more', async () => {
    const { controller, admin, logins } = await loggingIn()
    await admin.call('GET /services')
    await controller.elapse(24 * 3_600_000)
    const created = await Promise.all(['a', 'b', 'c'].map((name) => admin.call('POST /services', { body: { name } })))
    expect(created.map(({ data }) => data.id)).toHaveLength(3)
    expect(logins).toHaveLength(2)
    expect((await admin.call('GET /services')).meta.pagination.totalCount).toBe(3)
  })

  it('does not when it is the operation that it may not call', async () => {
    const { controller, admin, logins } = await loggingIn()
    const token = async () => {
      const id = (await admin.call('POST /identities', { body: { name: 'user', type: 'User', isAdmin: false } })).data
        .id
      const started = await controller.engine.host.startSession(id)
      logins.push(started.token)
      return started.token
    }
    const user = createManagementClient({ baseUrl, fetch: (request) => controller.fetch(request), login: token })
    await expect(user.call('POST /services', { body: { name: 'a' } })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(logins).toHaveLength(2)
  })

  it('tells why it could not, and tries again with the next request', async () => {
    let attempts = 0
    const login = async (): Promise<string> => {
      attempts += 1
      throw new Error('the smart card is not in')
    }
    const client = createClient({ baseUrl, fetch: async () => new Response('{}'), login })
    await expect(client.call('GET /services')).rejects.toThrow('the smart card is not in')
    await expect(client.call('GET /services')).rejects.toThrow('the smart card is not in')
    expect(attempts).toBe(2)
  })

  describe('by a login that stalls', () => {
    /** A client whose first login never ends; what it was told, and how many logins there were. */
    function stalling() {
      const signals: AbortSignal[] = []
      const login = (signal: AbortSignal) => {
        signals.push(signal)
        return signals.length === 1 ? new Promise<string>(() => undefined) : Promise.resolve('token')
      }
      const fetch = async () => new Response('{"data":[],"meta":{}}')
      return { signals, client: createClient({ baseUrl, fetch, login }) }
    }

    it('gives up after a minute, tells the login so, and the next request logs in anew', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      const { client, signals } = stalling()
      const waiting = [client.call('GET /services'), client.call('GET /services')]
      const failed = waiting.map((call) => expect(call).rejects.toMatchObject({ name: 'TimeoutError' }))
      await vi.advanceTimersByTimeAsync(59_000)
      expect(signals.map(({ aborted }) => aborted)).toEqual([false])
      await vi.advanceTimersByTimeAsync(1000)
      await Promise.all(failed)
      expect(signals[0]?.aborted).toBe(true)
      expect((await client.call('GET /services')).data).toEqual([])
      expect(signals).toHaveLength(2)
      await vi.advanceTimersByTimeAsync(120_000)
      expect(signals[1]?.aborted).toBe(false)
    })

    it('is left by the request that gives up: later ones log in anew, and others may go on to wait', async () => {
      const { client, signals } = stalling()
      const [one, other] = [new AbortController(), new AbortController()]
      const calls = [one, other].map(({ signal }) => client.call('GET /services', { signal }))
      await Promise.resolve()
      one.abort(new Error('too slow'))
      await expect(calls[0]).rejects.toThrow('too slow')
      expect(signals.map(({ aborted }) => aborted)).toEqual([false])
      expect((await client.call('GET /services')).data).toEqual([])
      expect(signals).toHaveLength(2)
      other.abort(new Error('too slow as well'))
      await expect(calls[1]).rejects.toThrow('too slow as well')
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    })
  })
})

describe('all items of a list', () => {
  it('come page after page, in order, with the filter', async () => {
    const { admin, controller } = await loggingIn()
    for (let i = 0; i < 7; i++) await admin.call('POST /services', { body: { name: `web ${i}` } })
    await admin.call('POST /services', { body: { name: 'other' } })
    let requests = 0
    const counting = createManagementClient({
      baseUrl,
      token: (await controller.asAdmin().then((api) => api.call('GET /current-api-session'))).data.token,
      fetch: (request) => {
        requests += 1
        return controller.fetch(request)
      },
    })
    const names: string[] = []
    const query = { filter: 'name contains "web"', sort: 'name', limit: 3 }
    for await (const service of counting.listAll('GET /services', query)) names.push(service.name)
    expect(names).toEqual(Array.from({ length: 7 }, (_, i) => `web ${i}`))
    expect(requests).toBe(3)
  })

  it('are none where there are none, and fail as a call does', async () => {
    const { admin } = await loggingIn()
    const all: unknown[] = []
    for await (const service of admin.listAll('GET /services')) all.push(service)
    expect(all).toEqual([])
    const wrong = admin.listAll('GET /services', { filter: 'name nonsense' }).next()
    await expect(wrong).rejects.toMatchObject({ status: 400, code: 'INVALID_FILTER' })
  })
})

describe('giving up', () => {
  it('rejects with the reason, before anything is sent', async () => {
    const { admin, logins } = await loggingIn()
    const signal = AbortSignal.abort(new Error('never mind'))
    await expect(admin.call('GET /services', { signal })).rejects.toThrow('never mind')
    expect(logins).toEqual([])
  })

  it('reaches the request that is sent', async () => {
    const sent: Request[] = []
    const abort = new AbortController()
    const client = createClient({
      baseUrl,
      fetch: (request) => {
        sent.push(request)
        return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)))
      },
    })
    const call = client.call('GET /services', { signal: abort.signal })
    await Promise.resolve()
    abort.abort(new Error('too slow'))
    await expect(call).rejects.toThrow('too slow')
    expect(sent).toHaveLength(1)
  })
})

it('a refusal that is worth trying again tells when, in milliseconds', async () => {
  const headers = { 'retry-after': '7', 'content-type': 'application/json' }
  const body = JSON.stringify({ error: { code: 'RATE_LIMITED', message: 'slower', requestId: 'r' } })
  const client = createClient({ baseUrl, fetch: async () => new Response(body, { status: 429, headers }) })
  await expect(client.call('GET /services')).rejects.toMatchObject({ retryAfterMs: 7000, requestId: 'r' })
})

it('the client is at most 5.5 kB on the wire, and loads no package', async () => {
  const folder = join(import.meta.dirname, '../../src/client')
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, removeComments: true }
  const loaded = new Map<string, string>()
  const load = async (path: string): Promise<void> => {
    if (loaded.has(path)) return
    const code = ts.transpileModule(await readFile(path, 'utf8'), { compilerOptions }).outputText
    loaded.set(path, code)
    for (const [, from = ''] of code.matchAll(/from '([^']+)'/g)) {
      expect(from, path).toMatch(/^\./)
      await load(join(dirname(path), from))
    }
  }
  await load(join(folder, 'index.ts'))
  expect(gzipSync([...loaded.values()].join('')).length).toBeLessThan(5500)
})
