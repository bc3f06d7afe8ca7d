import { signal } from '@preact/signals'
import { type Apis, apisThrough } from '../api/apis.ts'

/** Puts who asks into the headers of a request. */
type Sign = (headers: Headers) => void | Promise<void>

/** Somebody is logged in. Nothing of it is kept anywhere but in the memory of the page. */
export interface OpenSession {
  readonly apis: Apis
  readonly name: string
  readonly isAdmin: boolean
  readonly end: () => Promise<void>
}

/** The session of the page; undefined where nobody is logged in. */
export const session = signal<OpenSession | undefined>(undefined)

/** Why nobody is logged in any more, for the login view. */
export const farewell = signal<string | undefined>(undefined)

/** Clients that sign every request, and end the session of the page when the controller says that it has ended. */
export function signedApis(sign: Sign): Apis {
  return apisThrough(async (request) => {
    const headers = new Headers(request.headers)
    await sign(headers)
    const response = await fetch(new Request(request, { headers, credentials: 'omit', cache: 'no-store' }))
    if (session.value && saysThatSessionEnded(response)) {
      farewell.value = 'Your session has ended. Log in again to go on.'
      session.value = undefined
    }
    return response
  })
}

/** Makes the session that `apis` sign the session of the page. Rejects where the controller does not take it. */
export async function openSession(apis: Apis, end: () => Promise<void>): Promise<void> {
  const { data } = await apis.management.call('GET /current-identity')
  farewell.value = undefined
  session.value = { apis, name: data.name, isAdmin: data.isAdmin, end }
}

const ENDINGS = new Set<() => void>()

/** Has something forgotten when who is logged in leaves, so that the next one does not see it. */
export function forgetAtLogOut(forget: () => void): void {
  ENDINGS.add(forget)
}

/** Ends the session at the controller and in the page, even where the controller is not reached. */
export async function logOut(): Promise<void> {
  const ended = session.value
  session.value = undefined
  for (const forget of ENDINGS) forget()
  farewell.value = 'You are logged out.'
  await ended?.end().catch(() => undefined)
}

/** A refused operation has status 401 too; only what is said of the session tells why. */
function saysThatSessionEnded({ status, headers }: Response): boolean {
  return status === 401 && /error="(invalid|expired|missing)"/.test(headers.get('www-authenticate') ?? '')
}
