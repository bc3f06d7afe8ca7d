import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const START = Date.UTC(2026, 0, 1)
const PAGE = '../../adapters/tools/explorer/page/session'
const soonOver = {
  kind: 'tokens',
  accessToken: 'before',
  refreshToken: 'refresh',
  goodUntil: START + 30_000,
}

/** The session of a page whose tokens are about to end; `provider` answers its requests. */
async function page(provider: () => Promise<Response>) {
  vi.stubGlobal('location', new URL('https://controller.test/explorer/'))
  vi.stubGlobal('document', { baseURI: 'https://controller.test/explorer/', querySelector: () => null })
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined })
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('fetch', provider)
  vi.resetModules()
  // Types of a browser are not those of tests.
  const { keepCredential }: { keepCredential(credential: object): void } = await import(`${PAGE}/credential.ts`)
  const { renewed }: { renewed(credential: object): Promise<object> } = await import(`${PAGE}/renewal.ts`)
  keepCredential(soonOver)
  return renewed
}

beforeEach(() => {
  vi.useFakeTimers({ now: START })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.resetModules()
})

it.each([
  ['fails', () => Promise.reject(new TypeError('fetch failed'))],
  ['refuses', async () => new Response('{}', { status: 500 })],
  ['is silent', () => new Promise<Response>(() => undefined)],
])(
  'a request of the explorer goes on by its token while that is good, within a second, where the provider %s',
  async (_how, provider) => {
    const renewed = await page(provider)
    const used = renewed(soonOver)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await used).toMatchObject({ accessToken: 'before' })
  },
)

it('a request of the explorer fails by a token that has ended, and the next one has a new one', async () => {
  let isAway = true
  const renewed = await page(async () => {
    if (isAway) throw new TypeError('fetch failed')
    return Response.json({ access_token: 'after', refresh_token: 'next', expires_in: 1800 })
  })
  vi.setSystemTime(START + 40_000)
  await expect(renewed(soonOver)).rejects.toThrow('fetch failed')
  isAway = false
  expect(await renewed(soonOver)).toMatchObject({ accessToken: 'after' })
})
