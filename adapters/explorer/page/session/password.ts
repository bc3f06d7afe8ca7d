import { openSession, signedApis } from './session.ts'

/** The second factor that a login still needs: a one-time code that `pass` takes. */
export interface SecondFactor {
  readonly pass: (code: string) => Promise<void>
}

/** Logs in by password; answers what is still to be proved. Rejects with `ApiError`. */
export async function logInByPassword(username: string, password: string): Promise<SecondFactor | undefined> {
  let token = ''
  const apis = signedApis((headers) => {
    if (token !== '') headers.set('zt-session', token)
  })
  const login = { query: { method: 'password' as const }, body: { username, password } }
  const { data } = await apis.management.call('POST /authenticate', login)
  token = data.token
  const end = async () => {
    await apis.management.call('DELETE /current-api-session')
  }
  const open = () => openSession(apis, end)
  if (data.authQueries.length === 0) {
    await open()
    return undefined
  }
  return {
    pass: async (code) => {
      await apis.management.call('POST /authenticate/mfa', { body: { code } })
      await open()
    },
  }
}
