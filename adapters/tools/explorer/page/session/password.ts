import { apisThrough } from '../api/apis.ts'
import { apisBy, openSession } from './session.ts'

/** The second factor that a login still needs: a one-time code that `pass` takes. */
export interface SecondFactor {
  readonly pass: (code: string) => Promise<void>
}

/** Logs in by password; answers the factor that is still due. Rejects with `ApiError`. */
export async function logInByPassword(username: string, password: string): Promise<SecondFactor | undefined> {
  const login = { query: { method: 'password' as const }, body: { username, password } }
  const unsigned = apisThrough((request) => fetch(new Request(request, { credentials: 'omit', cache: 'no-store' })))
  const { data } = await unsigned.management.call('POST /authenticate', login)
  const credential = { kind: 'session' as const, token: data.token }
  if (data.authQueries.length === 0) {
    await openSession(credential)
    return undefined
  }
  return {
    pass: async (code) => {
      await apisBy(credential).management.call('POST /authenticate/mfa', { body: { code } })
      await openSession(credential)
    },
  }
}
