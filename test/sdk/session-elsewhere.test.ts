import { expect, it } from 'vitest'
// Internals: the token that is held between two logins is seen at the session alone.
import { ControllerSession } from '../../adapters/network/sdk/controller-session.ts'

const [FIRST, SECOND] = ['https://first.test:1280', 'https://second.test:1280'] as const

/** A promise, and the function that resolves it. */
function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

it('a late answer of another controller does not bring back a session that was forgotten meanwhile', async () => {
  const [asked, answer, login] = [gate(), gate(), gate()]
  let logins = 0
  let isFirstAway = false
  const session = new ControllerSession({
    controllers: [FIRST, SECOND],
    sessions: 'api-session',
    timer: () => () => undefined,
    logIn: async () => {
      logins += 1
      if (logins > 1) await login.opened
      return `token ${logins}`
    },
    fetch: async ({ url }) => {
      if (url.startsWith(SECOND)) {
        asked.open()
        await answer.opened
      } else if (isFirstAway) throw new TypeError('fetch failed')
      return Response.json({ data: { id: 'session', expirationSeconds: 1800 }, meta: {} })
    },
  })
  expect(await session.token()).toBe('token 1')
  isFirstAway = true
  const late = session.plain((api) => api.call('GET /current-api-session'))
  await asked.opened
  isFirstAway = false
  session.forget('token 1')
  const further = session.token()
  answer.open()
  await late
  login.open()
  expect(await further).toBe('token 2')
  expect(await session.token()).toBe('token 2')
  expect(logins).toBe(2)
})
