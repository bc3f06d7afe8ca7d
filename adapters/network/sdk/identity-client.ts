import { eachOf } from '../../../src/api-calls.ts'
import {
  type ApiClient,
  type ClientApi,
  type ClientOptions,
  createClient,
  createPortcullisClient,
  type PortcullisApi,
} from '../../../src/client/index.ts'
import { unlessAborted } from '../../../src/concurrency/unless-aborted.ts'
import type { ControllerSession } from './controller-session.ts'

/** Makes a client of one API of a controller. */
type MakeClient<Client> = (options: ClientOptions) => Client

/** The client API in the session of an identity, which is begun again when it has ended. */
export function clientIn(session: ControllerSession, access: ClientOptions): ApiClient<ClientApi> {
  const call: ApiClient<ClientApi>['call'] = (route, ...request) =>
    answerIn(session, createClient, (api) => api.call(route, ...request), request[0]?.signal)
  return {
    call,
    // Each page is a call of this route.
    listAll: (route, request) => eachOf((page) => call(route, ...([page] as never)), request),
    withToken: (token) => createClient({ ...access, token }),
  }
}

/** Portcullis's own API in the same session. */
export function portcullisIn(session: ControllerSession, access: ClientOptions): ApiClient<PortcullisApi> {
  const call: ApiClient<PortcullisApi>['call'] = (route, ...request) =>
    answerIn(session, createPortcullisClient, (api) => api.call(route, ...request), request[0]?.signal)
  return {
    call,
    // As above.
    listAll: (route, request) => eachOf((page) => call(route, ...([page] as never)), request),
    withToken: (token) => createPortcullisClient({ ...access, token }),
  }
}

function answerIn<Client, T>(
  session: ControllerSession,
  make: MakeClient<Client>,
  ask: (client: Client) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const answer = () => session.within((options) => ask(make(options)), signal)
  return signal === undefined ? answer() : unlessAborted(signal, answer)
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
