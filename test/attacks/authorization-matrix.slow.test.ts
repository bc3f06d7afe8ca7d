import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  passwordLogin,
} from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { validRequest } from '../laws/valid-requests.ts'
import { ALL_ROWS, type Row } from '../support/api-rows.ts'
import { givePassword, useAuthPolicy } from '../support/identity-state.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { accessRule } from './access-rules.ts'

/** Who asks. The permission of `exact` is the one that the wire reference names for the operation. */
const CREDENTIALS = [
  'none',
  'garbage',
  'plain',
  'admin',
  'readonly',
  'service',
  'exact',
  'pending',
  'pending reader',
] as const
type Credential = (typeof CREDENTIALS)[number]

const PASSWORD = 'some-password'

let mounted: MountedController
let admin: ForeignClient
let serviceId: string
let serial = 0
/** Usernames by what the identity may do. */
const usernames = new Map<string, string>([['admin', TEST_ADMIN.username]])

beforeAll(async () => {
  const controller = await createTestController(await withSharedPki())
  mounted = {
    url: '',
    controller,
    clock: controller.clock,
    fetch: (path, { body, ...request } = {}) =>
      controller.fetch(
        new Request(`https://controller.test${path}`, { ...request, ...(body === undefined ? {} : { body }) }),
      ),
    dispose: () => controller.close(),
  }
  admin = await adminOf(mounted)
  serviceId = await create(admin, '/services', { name: 'web', encryptionRequired: true })
  const all = { semantic: 'AnyOf', identityRoles: ['#all'] }
  await create(admin, '/service-policies', { name: 'all', type: 'Dial', serviceRoles: ['#all'], ...all })
  await create(admin, '/edge-routers', { name: 'router' })
  await create(admin, '/edge-router-policies', { name: 'all', edgeRouterRoles: ['#all'], ...all })
  const services = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] }
  await create(admin, '/service-edge-router-policies', services)
  await identityThatMay('plain', [])
  await identityThatMay('readonly', ['admin_readonly'])
  await identityThatMay('service', ['service'])
  await pending(await identityThatMay('pending', [], true))
  await pending(await identityThatMay('pending reader', ['admin_readonly']))
})
afterAll(() => mounted.dispose())

async function identityThatMay(name: string, permissions: readonly string[], isAdmin = false): Promise<string> {
  const id = await create(admin, '/identities', { name, type: 'User', isAdmin, permissions })
  const username = `user-${name}`
  await givePassword(mounted.controller, id, { username, password: PASSWORD })
  usernames.set(name, username)
  return id
}

function pending(id: string): Promise<void> {
  return useAuthPolicy(mounted.controller, id, { requireTotp: true })
}

async function tokenOf(credential: Credential, { api, route }: Row): Promise<string | undefined> {
  if (credential === 'none') return undefined
  if (credential === 'garbage') return 'garbage'
  const rule = accessRule(api, route)
  const who = credential !== 'exact' ? credential : typeof rule === 'object' ? rule.permission : 'plain'
  if (!usernames.has(who)) await identityThatMay(who, [who])
  const username = usernames.get(who) ?? ''
  const password = who === 'admin' ? TEST_ADMIN.password : PASSWORD
  return passwordLogin(mounted, { username, password })
}

/** `ok`, `401`, `501` for what this storage does not do, or the class of another status. */
async function outcome(row: Row, credential: Credential): Promise<string> {
  const { base, route } = row
  const token = await tokenOf(credential, row)
  const session = await foreignClient(mounted, CLIENT, token).post('/sessions', { serviceId, type: 'Dial' })
  serial += 1
  const ownSessionId = session.status === 201 ? session.body.data.id : undefined
  const { path, ...sent } = await validRequest(admin, route, `entity ${serial}`, { serviceId, ownSessionId })
  const [method = ''] = route.split(' ')
  // One check of the database goes on after its answer, and another one is refused meanwhile.
  if (path.endsWith('-data-integrity')) await vi.waitUntil(async () => !(await integrityReport()).inProgress, 30_000)
  const { status } = await foreignClient(mounted, base, token).send(method, path, sent)
  if (status < 300) return 'ok'
  return status === 401 || status === 501 ? String(status) : `${Math.floor(status / 100)}xx`
}

async function integrityReport(): Promise<{ readonly inProgress: boolean }> {
  return (await admin.get('/database/data-integrity-results')).body.data
}

describe('authorization', () => {
  const outcomes = new Map<string, Readonly<Record<Credential, string>>>()

  // Some three thousand requests.
  it('is as reviewed for every operation and credential', { timeout: 180_000 }, async () => {
    for (const row of ALL_ROWS) {
      const cells: Partial<Record<Credential, string>> = {}
      for (const credential of CREDENTIALS) cells[credential] = await outcome(row, credential)
      outcomes.set(nameOf(row), { ...EMPTY, ...cells })
    }
    await expect(table(outcomes)).toMatchFileSnapshot('authorization-matrix.txt')
  })

  it.each(ALL_ROWS)('of $api $route is what the reference asks for', (row) => {
    const cells = outcomes.get(nameOf(row)) ?? EMPTY
    const refused = CREDENTIALS.filter((credential) => cells[credential] === '401')
    expect(refused, 'if it is new, give it a valid body in valid-requests.ts').toEqual(
      CREDENTIALS.filter((credential) => !isLetIn(credential, row)),
    )
  })

  it('never fails', () => {
    expect([...outcomes.values()].flatMap((cells) => Object.values(cells))).not.toContain('5xx')
  })
})

/** Reports whether the wire reference lets a credential in; what it is answered then is another matter. */
function isLetIn(credential: Credential, { api, route }: Row): boolean {
  const rule = accessRule(api, route)
  const isRead = route.startsWith('GET ') || (typeof rule === 'object' && rule.permission.endsWith('.read'))
  if (rule === 'open') return true
  if (credential === 'none' || credential === 'garbage' || NEEDS_CERTIFICATE.test(route)) return false
  if (rule === 'partial') return true
  if (credential === 'pending' || credential === 'pending reader') return false
  if (rule === 'auth' || credential === 'admin') return true
  if (credential === 'readonly') return rule === 'reader' || (isRead && !ADMINS_ONLY.test(route))
  // An answer that tells of several kinds takes the right to read them all.
  if (rule === 'reader') return false
  if (rule === 'admin') return false
  if (rule === 'delegate') return credential === 'service'
  return credential === 'exact' || (credential === 'service' && rule.permission.startsWith('service.'))
}

/** Operations that nobody may do without the certificate that they are about, which these callers do not present. */
const NEEDS_CERTIFICATE = /^POST \/current-identity\/authenticators\/\{id\}\/extend(-verify)?$/

/** Operations that even `admin_readonly` does not read, or have routers asked. */
const ADMINS_ONLY =
  /^(GET \/(summary|(cluster|database|raft)\/.*|controller-settings.*|webhooks.*|ws-api)|POST \/inspections)$/

function nameOf({ api, route }: Row): string {
  return `${api} ${route}`
}

const EMPTY: Readonly<Record<Credential, string>> = {
  none: '',
  garbage: '',
  plain: '',
  admin: '',
  readonly: '',
  service: '',
  exact: '',
  pending: '',
  'pending reader': '',
}

/** Cells first, so that a longer route moves nothing. */
function table(outcomes: ReadonlyMap<string, Readonly<Record<Credential, string>>>): string {
  const line = (name: string, cells: readonly string[]) =>
    [...cells.map((cell, index) => cell.padEnd((CREDENTIALS[index] ?? '').length + 2)), name].join('')
  const rows = [...outcomes].map(([name, row]) => [name, CREDENTIALS.map((credential) => row[credential])] as const)
  const sorted = rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, cells]) => line(name, cells))
  return `${[line('operation', CREDENTIALS), ...sorted].join('\n')}\n`
}
