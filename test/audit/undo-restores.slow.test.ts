import { RECORD_KINDS, type RecordKind } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pemOf } from '../support/certificates/certificates.ts'
import { adminToken, type Delegate, delegate } from '../support/delegate.ts'
import { newAuthority } from '../support/third-party.ts'

type Body = Readonly<Record<string, unknown>>

/** A kind of entity: who may write it, how it is made, and what a patch says. */
interface Kind {
  readonly name: string
  readonly permission: string
  readonly create: (name: string) => Body | Promise<Body>
  readonly patch: Body
  /** Fields that are made anew with an entity that is created again. */
  readonly anew?: readonly string[]
}

const MANAGEMENT = '/edge/management/v1'
const POLICY = { type: 'Dial', semantic: 'AnyOf' }
const SIGNER = { audience: 'net', enabled: true, jwksEndpoint: 'https://keys.example/jwks' }
const CA = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: false, isOttCaEnrollmentEnabled: true, identityRoles: [] }
const CLAIM = {
  index: 0,
  location: 'COMMON_NAME',
  matcher: 'ALL',
  parser: 'NONE',
  matcherCriteria: '',
  parserCriteria: '',
}
const PRIMARY = {
  cert: { allowed: true, allowExpiredCerts: false },
  extJwt: { allowed: false, allowedSigners: [] },
  updb: {
    allowed: true,
    lockoutDurationMinutes: 0,
    maxAttempts: 5,
    minPasswordLength: 5,
    requireMixedCase: false,
    requireNumberChar: false,
    requireSpecialChar: false,
  },
}
const AUTH_POLICY = { primary: PRIMARY, secondary: { requireTotp: false, requireExtJwtSigner: null } }

let typeId = ''
let serviceId = ''
let routerId = ''

const KINDS: readonly Kind[] = [
  {
    name: 'identities',
    permission: 'identity',
    create: (name) => ({ name, type: 'Device', isAdmin: false, externalId: `of-${name}`, appData: { a: 1 } }),
    patch: { roleAttributes: ['later'] },
  },
  {
    name: 'services',
    permission: 'service',
    create: (name) => ({ name, encryptionRequired: false, maxIdleTimeMillis: 5 }),
    patch: { roleAttributes: ['b'] },
  },
  {
    name: 'service-policies',
    permission: 'service-policy',
    create: (name) => ({ name, ...POLICY, identityRoles: ['#a'], serviceRoles: ['#b'] }),
    patch: { semantic: 'AllOf' },
  },
  {
    name: 'edge-router-policies',
    permission: 'edge-router-policy',
    create: (name) => ({ name, semantic: 'AnyOf', edgeRouterRoles: ['#all'], identityRoles: ['#a'] }),
    patch: { identityRoles: ['#all'] },
  },
  {
    name: 'service-edge-router-policies',
    permission: 'service-edge-router-policy',
    create: (name) => ({ name, semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#a'] }),
    patch: { serviceRoles: ['#all'] },
  },
  {
    name: 'edge-routers',
    permission: 'router',
    create: (name) => ({ name, cost: 7, noTraversal: true }),
    patch: { roleAttributes: ['b'] },
  },
  { name: 'transit-routers', permission: 'router', create: (name) => ({ name, cost: 7 }), patch: { cost: 8 } },
  {
    name: 'config-types',
    permission: 'config-type',
    create: (name) => ({ name, schema: { type: 'object' } }),
    patch: { schema: { type: 'object', required: ['a'] } },
  },
  {
    name: 'configs',
    permission: 'config',
    create: (name) => ({ name, configTypeId: typeId, data: { a: 1 } }),
    patch: { data: { a: 2 } },
  },
  {
    name: 'posture-checks',
    permission: 'posture-check',
    create: (name) => ({ name, typeId: 'DOMAIN', domains: ['a.example'] }),
    patch: { typeId: 'DOMAIN', domains: ['b.example'] },
  },
  {
    name: 'auth-policies',
    permission: 'auth-policy',
    create: (name) => ({ name, ...AUTH_POLICY }),
    patch: { primary: { updb: { maxAttempts: 3 } } },
  },
  {
    name: 'terminators',
    permission: 'terminator',
    create: () => ({ service: serviceId, router: routerId, binding: 'transport', address: 'tcp:a:80' }),
    patch: { cost: 9 },
  },
  {
    name: 'external-jwt-signers',
    permission: 'external-jwt-signer',
    create: (name) => ({ name, issuer: `https://${name}.example`, ...SIGNER }),
    patch: { audience: 'other' },
  },
  {
    name: 'cas',
    permission: 'ca',
    create: async (name) => ({ name, certPem: pemOf(await newAuthority(name)), ...CA }),
    patch: { externalIdClaim: CLAIM },
    anew: ['verificationToken'],
  },
]

let controller: Awaited<ReturnType<typeof createTestController>>
let admin = ''
const delegates = new Map<string, Delegate>()

beforeAll(async () => {
  controller = await createTestController()
  admin = await adminToken(controller)
  for (const { permission } of KINDS) {
    if (!delegates.has(permission)) {
      delegates.set(permission, await delegate(controller, permission, [permission, 'admin_readonly']))
    }
  }
  const id = async (path: string, body: Body) => (await send(admin, 'POST', `${MANAGEMENT}${path}`, body)).data.id
  typeId = await id('/config-types', { name: 'kept-type' })
  serviceId = await id('/services', { name: 'kept-service', encryptionRequired: true })
  routerId = await id('/edge-routers', { name: 'kept-router' })
})
afterAll(() => controller.close())

async function send(token: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init = { method, headers: { 'zt-session': token, 'content-type': 'application/json', ...headers } }
  const request = new Request(`https://controller.test${path}`, {
    ...init,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const answer = await controller.fetch(request)
  const { data } = (await answer.json()) as { data: { id: string; tag: string; entries: readonly { id: string }[] } }
  return { status: answer.status, data }
}

function kindNamed(name: string): RecordKind {
  return RECORD_KINDS.find((kind) => kind.name === name) ?? expect.fail(`no kind of records is named ${name}`)
}

async function stored(kind: string, id: string): Promise<Body | undefined> {
  const record = await controller.storage.read((tx) => tx.collection(kindNamed(kind)).get(id))
  return record && { ...record }
}

/** Everything but the instants of the record itself, and what is made anew. */
function lasting(record: Body | undefined, anew: readonly string[]): Body {
  const left = Object.entries(record ?? {}).filter(([field]) => ![...anew, 'createdAt', 'updatedAt'].includes(field))
  return Object.fromEntries(left)
}

/** Takes the latest record of a type back, in the name of somebody. */
async function undo(token: string, entity: string, type: string): Promise<number> {
  const query = new URLSearchParams({ entity, filter: `type = "${type}"`, limit: '1' })
  const record = (await send(admin, 'GET', `/portcullis/v1/audit?${query}`)).data.entries[0]?.id
  const path = `/portcullis/v1/audit/${record}/undo`
  const plan = await send(token, 'GET', path)
  return (await send(token, 'POST', path, undefined, { 'if-match': `"${plan.data?.tag}"` })).status
}

describe.each(KINDS)('an undo in $name', ({ name: kind, permission, create, patch, anew = [] }) => {
  const parties = ['administrator', 'delegate'] as const
  const pairs = parties.flatMap((writer) => parties.map((undoer) => [writer, undoer] as const))
  const tokenOf = (party: (typeof parties)[number]) =>
    party === 'administrator' ? admin : (delegates.get(permission)?.token ?? expect.fail())

  /** The record afterwards: all that was, and trust only by the word of an administrator. */
  const expected = (before: Body | undefined, undoer: (typeof parties)[number]) => {
    const all = lasting(before, anew)
    if (undoer === 'administrator' || all.mayAuthenticateAdmins !== true) return all
    const decider = 'decidedById' in all && { decidedById: delegates.get(permission)?.id }
    return { ...all, mayAuthenticateAdmins: false, ...decider }
  }

  it.each(pairs)('of what an %s did by an %s restores every field, and no trust beyond', async (writer, undoer) => {
    const path = `${MANAGEMENT}/${kind}`
    const name = `${kind}-${writer}-${undoer}`
    const { status, data } = await send(tokenOf(writer), 'POST', path, await create(name))
    expect(status).toBe(201)
    const before = await stored(kind, data.id)
    if (before !== undefined && 'mayAuthenticateAdmins' in before) {
      expect(before.mayAuthenticateAdmins).toBe(writer === 'administrator')
    }

    expect((await send(tokenOf(writer), 'PATCH', `${path}/${data.id}`, patch)).status).toBe(200)
    expect(lasting(await stored(kind, data.id), [])).not.toEqual(lasting(before, []))
    const others = writer === undoer ? [...delegates].filter(([other]) => other !== permission) : []
    for (const [, { token }] of others) expect([401, 404]).toContain(await undo(token, data.id, 'entity.updated'))
    expect(await undo(tokenOf(undoer), data.id, 'entity.updated')).toBe(200)
    const changedBack = await stored(kind, data.id)
    expect(lasting(changedBack, [])).toEqual({ ...lasting(expected(before, undoer), []), ...pick(before, anew) })

    expect((await send(tokenOf(writer), 'DELETE', `${path}/${data.id}`)).status).toBe(200)
    for (const [, { token }] of others) expect([401, 404]).toContain(await undo(token, data.id, 'entity.deleted'))
    expect(await stored(kind, data.id)).toBeUndefined()
    expect(await undo(tokenOf(undoer), data.id, 'entity.deleted')).toBe(200)
    expect(lasting(await stored(kind, data.id), anew)).toEqual(expected(changedBack, undoer))
  })
})

describe('trust in a signer', () => {
  const signers = `${MANAGEMENT}/external-jwt-signers`
  const anchors = '/portcullis/v1/trust-anchors'
  const trusted = async (id: string) => (await stored('external-jwt-signers', id))?.mayAuthenticateAdmins
  const delegated = () => delegates.get('external-jwt-signer')?.token ?? expect.fail()
  let count = 0
  const made = async (token: string) => {
    count += 1
    const name = `anchor-${count}`
    return (await send(token, 'POST', signers, { name, issuer: `https://${name}.example`, ...SIGNER })).data.id
  }

  it('does not come to a value that a delegate chose, although the signer is trusted now', async () => {
    const id = await made(delegated())
    await send(admin, 'PATCH', `${signers}/${id}`, { audience: 'good' })
    await send(admin, 'PUT', `${anchors}/${id}`, { mayAuthenticateAdmins: true })
    expect(await trusted(id)).toBe(true)
    const query = new URLSearchParams({ entity: id, filter: 'type = "entity.updated"', limit: '2' })
    const [, edit] = (await send(admin, 'GET', `/portcullis/v1/audit?${query}`)).data.entries
    const path = `/portcullis/v1/audit/${edit?.id}/undo`
    const { data } = await send(admin, 'GET', path)
    expect(data).toMatchObject({ trust: false, text: expect.stringContaining('It is not trusted') })
    await send(admin, 'POST', path, undefined, { 'if-match': `"${data.tag}"` })
    expect(await trusted(id)).toBe(false)
  })

  it('does not come back with one of two values that a delegate chose, and does with both', async () => {
    const id = await made(admin)
    await send(delegated(), 'PATCH', `${signers}/${id}`, { audience: 'theirs' })
    await send(delegated(), 'PATCH', `${signers}/${id}`, { jwksEndpoint: 'https://theirs.example/jwks' })
    const query = new URLSearchParams({ entity: id, filter: 'type = "entity.updated"', limit: '2' })
    const [last, first] = (await send(admin, 'GET', `/portcullis/v1/audit?${query}`)).data.entries
    const takeBack = async (record: string | undefined, token: string) => {
      const path = `/portcullis/v1/audit/${record}/undo`
      const { data } = await send(token, 'GET', path)
      return (await send(token, 'POST', path, undefined, { 'if-match': `"${data.tag}"` })).status
    }
    expect(await takeBack(first?.id, admin)).toBe(200)
    expect(await stored('external-jwt-signers', id)).toMatchObject({ audience: 'net', mayAuthenticateAdmins: false })
    expect(await undo(admin, id, 'entity.updated')).toBe(200)
    expect(await takeBack(last?.id, admin)).toBe(200)
    expect(await trusted(id)).toBe(false)
    expect(await takeBack(first?.id, admin)).toBe(200)
    const { issuer } = (await stored('external-jwt-signers', id)) ?? {}
    expect(await stored('external-jwt-signers', id)).toMatchObject({ issuer, ...SIGNER, mayAuthenticateAdmins: true })
  })

  it('that was given or taken is taken back by administrators alone', async () => {
    const id = await made(delegated())
    await send(admin, 'PUT', `${anchors}/${id}`, { mayAuthenticateAdmins: true })
    expect(await undo(delegated(), id, 'entity.updated')).toBe(400)
    expect(await undo(admin, id, 'entity.updated')).toBe(200)
    expect(await trusted(id)).toBe(false)
    await send(admin, 'PUT', `${anchors}/${id}`, { mayAuthenticateAdmins: true })
    await send(admin, 'PUT', `${anchors}/${id}`, { mayAuthenticateAdmins: false })
    expect(await undo(delegated(), id, 'entity.updated')).toBe(400)
    expect(await undo(admin, id, 'entity.updated')).toBe(200)
    expect(await trusted(id)).toBe(true)
  })
})

describe('what no request sets', () => {
  it('comes back: a disabled identity is disabled, and an identity that was disabled may be enabled so', async () => {
    const identities = `${MANAGEMENT}/identities`
    const { data } = await send(admin, 'POST', identities, { name: 'left', type: 'Device', isAdmin: false })
    await send(admin, 'POST', `${identities}/${data.id}/disable`, { durationMinutes: 0 })
    const before = await stored('identities', data.id)
    expect(before?.disabledAt).not.toBeNull()
    await send(admin, 'DELETE', `${identities}/${data.id}`)
    const { token } = delegates.get('identity') ?? expect.fail()
    expect(await undo(token, data.id, 'entity.deleted')).toBe(200)
    expect(lasting(await stored('identities', data.id), [])).toEqual(lasting(before, []))
    expect(await undo(token, data.id, 'entity.updated')).toBe(200)
    expect((await stored('identities', data.id))?.disabledAt).toBeNull()
  })

  it.each([
    ['edge-routers', 'ab'],
    ['transit-routers', 'ba'],
  ])('comes back: a router of %s has its certificate', async (kind, byte) => {
    const { data } = await send(admin, 'POST', `${MANAGEMENT}/${kind}`, { name: `verified-${kind}` })
    const certificate = { certPem: pemOf(await newAuthority('router')), fingerprint: byte.repeat(20) }
    await controller.storage.write(async (tx) => {
      const collection = tx.collection(kindNamed(kind))
      const router = (await collection.get(data.id)) ?? expect.fail()
      const verified = { ...router, ...certificate, isVerified: true, authorityKeyId: 'cd'.repeat(20) }
      await collection.update(verified)
    })
    const before = await stored(kind, data.id)
    await send(admin, 'DELETE', `${MANAGEMENT}/${kind}/${data.id}`)
    expect(await undo(admin, data.id, 'entity.deleted')).toBe(200)
    expect(lasting(await stored(kind, data.id), [])).toEqual(lasting(before, []))
    const query = new URLSearchParams({ entity: data.id, filter: 'type = "change.undone"' })
    expect((await send(admin, 'GET', `/portcullis/v1/audit?${query}`)).data.entries).toHaveLength(1)
  })
})

function pick(record: Body | undefined, fields: readonly string[]): Body {
  return Object.fromEntries(fields.map((field) => [field, record?.[field]]))
}
