import { TEST_ADMIN, type TestController } from 'portcullis/testing'

/** Calls the management API, or the fabric API, of a controller as its admin. */
export type BenchCall = (method: string, path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>

/** An API session of the admin. */
export async function adminToken(controller: TestController): Promise<string> {
  const { token } = await callerOf(controller, '')('POST', '/authenticate?method=password', TEST_ADMIN)
  return String(token)
}

/** Calls with an API session. */
export function callerOf(controller: TestController, token: string): BenchCall {
  return async (method, path, body) => {
    const base = path.startsWith('/fabric') ? 'https://bench' : 'https://bench/edge/management/v1'
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await controller.fetch(new Request(`${base}${path}`, init))
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text).data
  }
}
