import { controllerUrl } from '../api/apis.ts'
import { memberOf } from '../api/read-json.ts'

/** The credential of the requests of a session. */
export type Credential =
  | { readonly kind: 'session'; readonly token: string }
  | {
      readonly kind: 'tokens'
      readonly accessToken: string
      readonly refreshToken: string | undefined
      /** Epoch milliseconds. */
      readonly goodUntil: number
    }

/** Another controller behind the same origin has another path, and a credential of its own. */
const NAME = `portcullis-explorer ${new URL(controllerUrl()).pathname}`

/** How long a new page waits for the login of other tabs, in milliseconds. */
const ASKED_MS = 200

/** How long a tab waits for the work of another one, in milliseconds: a tab that the browser put to sleep goes on with none. */
const TURN_MS = 15_000

/** Only tabs of this origin get each other's messages. */
const TABS = new BroadcastChannel(NAME)

type Message =
  | { readonly says: 'who' }
  | { readonly says: 'this'; readonly credential: Credential }
  | { readonly says: 'over' }

let held: Credential | undefined

/**
 * Keeps a credential for the reload of this tab, and sends it to the other tabs. The storage of a session is read by scripts of this origin
 * alone, ends with the tab, and no request carries it by itself.
 */
export function keepCredential(credential: Credential): void {
  hold(credential)
  say({ says: 'this', credential })
}

/** Forgets the credential, in this tab alone or in the others too. */
export function forgetCredential(where: 'here' | 'everywhere'): void {
  hold(undefined)
  if (where === 'everywhere') say({ says: 'over' })
}

/** The credential as it is now: another tab may have renewed it. */
export function heldCredential(): Credential | undefined {
  return held
}

/** Finds the credential that this tab kept before a reload, or that another tab has; undefined without a login. */
export async function recallCredential(): Promise<Credential | undefined> {
  const kept = readCredential(parsed(sessionStorage.getItem(NAME)))
  if (kept !== undefined) {
    held = kept
    return kept
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(undefined), ASKED_MS)
    const onMessage = ({ data }: MessageEvent<unknown>) => {
      const message = readMessage(data)
      if (message?.says === 'this') end(message.credential)
    }
    const end = (credential: Credential | undefined) => {
      clearTimeout(timer)
      TABS.removeEventListener('message', onMessage)
      if (credential !== undefined) hold(credential)
      resolve(credential)
    }
    TABS.addEventListener('message', onMessage)
    say({ says: 'who' })
  })
}

/** Follows logins, renewals and logouts of the other tabs from now on. */
export function followTabs(onCredential: (credential: Credential) => void, onOver: () => void): void {
  TABS.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = readMessage(data)
    if (message?.says === 'who' && held !== undefined) say({ says: 'this', credential: held })
    if (message?.says === 'this') {
      hold(message.credential)
      onCredential(message.credential)
    }
    if (message?.says === 'over') {
      hold(undefined)
      onOver()
    }
  })
}

/**
 * Runs work that only one tab may do at a time, such as using a refresh token, which is good once. The turn is taken from a tab that does
 * not end its work: it sleeps, and may sleep for ever.
 */
export async function byOneTab(work: () => Promise<void>): Promise<void> {
  // Without TLS browsers have no locks, and no OpenID Connect either.
  if (!('locks' in navigator)) return work()
  let isOurTurn = false
  const turn = async () => {
    isOurTurn = true
    await work()
    // Held until the others have heard of it.
    await new Promise((resolve) => setTimeout(resolve, ASKED_MS))
  }
  try {
    await navigator.locks.request(NAME, { signal: AbortSignal.timeout(TURN_MS) }, turn)
  } catch (error) {
    if (isOurTurn) throw error
    await navigator.locks.request(NAME, { steal: true }, turn)
  }
}

function hold(credential: Credential | undefined): void {
  held = credential
  if (credential === undefined) sessionStorage.removeItem(NAME)
  else sessionStorage.setItem(NAME, JSON.stringify(credential))
}

function say(message: Message): void {
  TABS.postMessage(message)
}

function readMessage(data: unknown): Message | undefined {
  const says = memberOf(data, 'says')
  if (says === 'who' || says === 'over') return { says }
  const credential = says === 'this' ? readCredential(memberOf(data, 'credential')) : undefined
  return credential && { says: 'this', credential }
}

function readCredential(value: unknown): Credential | undefined {
  const [kind, token, accessToken] = [memberOf(value, 'kind'), memberOf(value, 'token'), memberOf(value, 'accessToken')]
  if (kind === 'session' && typeof token === 'string') return { kind, token }
  if (kind !== 'tokens' || typeof accessToken !== 'string') return undefined
  const [refreshToken, goodUntil] = [memberOf(value, 'refreshToken'), memberOf(value, 'goodUntil')]
  return {
    kind,
    accessToken,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    goodUntil: typeof goodUntil === 'number' ? goodUntil : 0,
  }
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
}
