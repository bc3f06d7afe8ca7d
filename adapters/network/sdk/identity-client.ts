import { eachOf } from '../../../src/api-calls.ts'
import { type ApiClient, type ClientApi, createClient, type Fetch } from '../../../src/client/index.ts'
import { unlessAborted } from '../../../src/concurrency/unless-aborted.ts'
import type { ControllerSession } from './controller-session.ts'

/** The client API in the session of an identity, which is begun again when it has ended. */
export function clientIn(session: ControllerSession, baseUrl: string, fetch: Fetch): ApiClient<ClientApi> {
  const call: ApiClient<ClientApi>['call'] = (route, ...request) => {
    const signal = request[0]?.signal
    const answer = () => session.plain((api) => api.call(route, ...request), signal)
    return signal === undefined ? answer() : unlessAborted(signal, answer)
  }
  return {
    call,
    // Each page is a call of this route.
    listAll: (route, request) => eachOf((page) => call(route, ...([page] as never)), request),
    withToken: (token) => createClient({ baseUrl, fetch, token }),
  }
}

/** The second factor of an identity: an authenticator app that shows codes. */
export interface SecondFactor {
  /** Begins to enroll: the app takes the address, `otpauth://…`, and the codes are for the day that it is lost. */
  enroll(): Promise<{ readonly provisioningUrl: string; readonly recoveryCodes: readonly string[] }>
  /** Ends the enrollment with a code that the app shows; logins need one from now on. */
  verify(code: string): Promise<void>
  /** Shows the second factor in the session, as posture checks ask for from time to time. */
  pass(code: string): Promise<void>
  /** Takes the second factor away. */
  remove(code: string): Promise<void>
}

/** The second factor of the identity of a session. Calls reject with a {@link ConnectionFailure}. */
export function secondFactorOf(session: ControllerSession): SecondFactor {
  return {
    enroll: () =>
      session.call('second factor', async (api) => {
        await api.call('POST /current-identity/mfa')
        const { provisioningUrl, recoveryCodes } = (await api.call('GET /current-identity/mfa')).data
        return { provisioningUrl: provisioningUrl ?? '', recoveryCodes: recoveryCodes ?? [] }
      }),
    verify: (code) =>
      session.call('second factor', async (api) => {
        await api.call('POST /current-identity/mfa/verify', { body: { code } })
      }),
    pass: (code) =>
      session.call('second factor', async (api) => {
        await api.call('POST /authenticate/mfa', { body: { code } })
      }),
    remove: (code) =>
      session.call('second factor', async (api) => {
        await api.call('DELETE /current-identity/mfa', { headers: { 'mfa-validation-code': code } })
      }),
  }
}
