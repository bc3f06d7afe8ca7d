import { signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Apis, apisThrough } from '../api/apis.ts'
import { isPassing } from '../api/problem-text.ts'
import {
  type Credential,
  followTabs,
  forgetCredential,
  heldCredential,
  keepCredential,
  recallCredential,
} from './credential.ts'
import { renewed } from './renewal.ts'

/** Somebody is logged in. */
export interface OpenSession {
  readonly apis: Apis
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
  readonly permissions: readonly string[]
}

/** The session of the page; undefined without a login. */
export const session = signal<OpenSession | undefined>(undefined)

/** Why the last login ended, for the login view. */
export const farewell = signal<string | undefined>(undefined)

/** Questions that are asked by `POST`. */
const QUESTIONS = /\/(explain|simulate)$/
/** Milliseconds within which the events of a change come. */
const HEARD_MS = 3000
let wroteAt = Number.NEGATIVE_INFINITY

/** Reports whether this page changed something a moment ago. */
export function hasJustWritten(): boolean {
  return Date.now() - wroteAt < HEARD_MS
}

/** Clients that sign every request, and end the session of the page when the controller says that it has ended. */
export function apisBy(first: Credential): Apis {
  let last = first
  return apisThrough(async (request) => {
    const headers = new Headers(request.headers)
    if (request.method !== 'GET' && !QUESTIONS.test(request.url)) wroteAt = Date.now()
    last = heldCredential() ?? last
    const credential = await renewed(last)
    if (credential.kind === 'session') headers.set('zt-session', credential.token)
    else headers.set('authorization', `Bearer ${credential.accessToken}`)
    const response = await fetch(new Request(request, { headers, credentials: 'omit', cache: 'no-store' }))
    if (session.value && saysThatSessionEnded(response)) {
      forgetCredential('here')
      leave('Your session has ended. Log in again to go on.')
    }
    return response
  })
}

/** Makes a credential that of the page, of its reloads and of its other tabs. Rejects where the controller does not take it. */
export async function openSession(credential: Credential): Promise<void> {
  await adopt(credential)
  keepCredential(heldCredential() ?? credential)
}

/** Goes on with the session from before a reload, or of another tab, if there is one. */
export async function resumeSession(): Promise<void> {
  followTabs(
    (credential) => {
      if (session.value === undefined) void adopt(credential).catch(() => undefined)
    },
    () => {
      if (session.value !== undefined) leaveForGood('You logged out in another tab.')
    },
  )
  const credential = await recallCredential()
  while (credential !== undefined && session.value === undefined) {
    try {
      await adopt(heldCredential() ?? credential)
    } catch (error) {
      if (!isPassing(error)) return forgetCredential('here')
      isAway.value = true
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

/** True while a page that was loaded anew waits for a controller that is away: its earlier login is kept. */
export const isAway = signal(false)
/** Milliseconds until the controller is asked again. */
const AGAIN_MS = 1000

async function adopt(credential: Credential): Promise<void> {
  const apis = apisBy(credential)
  const { data } = await apis.management.call('GET /current-identity')
  const { id, name, isAdmin, permissions } = data
  farewell.value = undefined
  session.value = { apis, id, name, isAdmin, permissions: permissions ?? [] }
}

/** An action on the entities of one kind, as permissions name both. */
export type Action = 'create' | 'update' | 'delete'

/** Reports whether the logged in user may do something: the page offers no action that the controller would refuse. */
export function may(entity: string, action: Action): boolean {
  const { isAdmin = false, permissions = [] } = session.value ?? {}
  return isAdmin || permissions.includes(entity) || permissions.includes(`${entity}.${action}`)
}

/** Reports whether the logged in user may read entities of a kind, for example `service-policy`. */
export function mayRead(entity: string): boolean {
  const { isAdmin = false, permissions = [] } = session.value ?? {}
  return isAdmin || [entity, `${entity}.read`, 'admin_readonly'].some((one) => permissions.includes(one))
}

const ENDINGS = new Set<() => void>()

/** Registers data that is forgotten at logout, so that the next user does not see it. */
export function forgetAtLogOut(forget: () => void): void {
  ENDINGS.add(forget)
}

/** Ends the session at the controller and in every tab, even where the controller is not reached. */
export async function logOut(): Promise<void> {
  const ended = session.value
  const isAsked = ended?.apis.management.call('DELETE /current-api-session')
  forgetCredential('everywhere')
  leaveForGood('You are logged out.')
  await isAsked?.catch(() => undefined)
}

/** After a logout another user may log in. */
function leaveForGood(reason: string): void {
  for (const forget of ENDINGS) forget()
  leave(reason)
}

function leave(reason: string): void {
  session.value = undefined
  farewell.value = reason
}

/** A refused operation has status 401 too; only a look at the session shows the reason. */
function saysThatSessionEnded({ status, headers }: Response): boolean {
  return status === 401 && /error="(invalid|expired|missing)"/.test(headers.get('www-authenticate') ?? '')
}

/** The APIs of the open session, for everything that is shown in it. */
export const SessionApis = createContext<Apis | undefined>(undefined)

/** The APIs of the session in which a component is shown. */
export function useApis(): Apis {
  const apis = useContext(SessionApis)
  if (apis === undefined) throw new Error('Nothing of the network is shown without a session.')
  return apis
}

const ACCESS = ['service-policy', 'identity', 'service']

/** The kinds of entities that the user of a view must be allowed to read, as permissions name them; any kind for `[]`. */
const READS: Readonly<Record<string, readonly string[]>> = {
  start: [],
  graph: ACCESS,
  why: [...ACCESS, 'posture-check', 'router'],
  'what-if': ACCESS,
  live: [],
  changes: [],
  manage: [],
  json: [],
}

/** The permissions without which the logged in user sees nothing in a view, in words; undefined where none is missing. */
export function lackedBy(view: string): string | undefined {
  const reads = READS[view]
  const { isAdmin = false, permissions = [] } = session.value ?? {}
  if (reads === undefined || isAdmin) return undefined
  if (reads.length === 0) return permissions.length > 0 ? undefined : 'any permission, and you have none'
  const missing = reads.filter((kind) => !mayRead(kind)).map((kind) => `${kind}.read`)
  return missing.length === 0
    ? undefined
    : `the ${missing.length === 1 ? 'permission' : 'permissions'} ${missing.join(', ')}`
}
