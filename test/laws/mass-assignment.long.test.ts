import { apiDocuments } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { validRequest } from './valid-requests.ts'

type Json = Readonly<Record<string, unknown>>

const DOCUMENT = (await apiDocuments('v0')).management
const CANARY = 'canary'

/** Members that records keep and no schema shows. */
const INTERNAL = ['tokenDigest', 'passwordHash', 'mayAuthenticateAdmins', 'disabledAt', 'lockedAt', 'failedAttempts']

/** Every member that any schema of either API names, whatever it belongs to. */
const FIELDS: readonly string[] = [
  ...new Set([...namesIn(DOCUMENT), ...namesIn((await apiDocuments('v0')).client), ...INTERNAL]),
].sort()

/** Members that no request of any collection decides. */
const NEVER = [
  '_links',
  'createdAt',
  'hasApiSession',
  'isDefaultAdmin',
  'isMfaEnabled',
  'isOnline',
  'isSystem',
  'isVerified',
  'updatedAt',
  'verificationToken',
] as const

const COLLECTIONS = [
  'auth-policies',
  'cas',
  'config-types',
  'configs',
  'edge-router-policies',
  'edge-routers',
  'external-jwt-signers',
  'identities',
  'posture-checks',
  'service-edge-router-policies',
  'service-policies',
  'services',
  'terminators',
  'transit-routers',
] as const

describe.each(COLLECTIONS)('A8: in a body for /%s', (collection) => {
  it.each(['POST', 'PUT', 'PATCH'] as const)(
    '%s: no member that it does not take is applied',
    async (method) => {
      const admin = await adminOf(await mount())
      const route = method === 'POST' ? `/${collection}` : `/${collection}/{id}`
      const taken = bodyMembers(route, method)
      expect(taken).toContain(collection === 'terminators' ? 'binding' : 'name')
      for (const field of NEVER) expect(taken, field).not.toContain(field)
      const foreign = FIELDS.filter((field) => !taken.includes(field))
      expect(foreign.length).toBeGreaterThan(100)
      const known = { serviceId: '', ownSessionId: undefined }
      const { body } = await validRequest(admin, `POST /${collection}`, `${collection} ${method}`, known)
      const valid = Object(body)
      for (const field of foreign) {
        const id = method === 'POST' ? undefined : await create(admin, `/${collection}`, valid)
        const before = id === undefined ? undefined : await read(admin, `/${collection}/${id}`)
        const forged = { ...(method === 'PATCH' ? discriminator(valid) : valid), [field]: forgery(before?.[field]) }
        const answer = await admin.send(method, id === undefined ? `/${collection}` : `/${collection}/${id}`, {
          body: forged,
        })
        expect([200, 201, 400], `${field}: ${answer.text}`).toContain(answer.status)
        const shownId = id ?? answer.body.data?.id
        if (shownId === undefined) continue
        const after = await read(admin, `/${collection}/${shownId}`)
        expect(JSON.stringify(after), field).not.toContain(CANARY)
        if (before !== undefined && field !== 'updatedAt') expect(after[field], field).toEqual(before[field])
        else if (after[field] !== undefined && field !== 'isOnline')
          expect(after[field], field).not.toEqual(forged[field])
        await admin.delete(`/${collection}/${shownId}`)
      }
    },
    60_000,
  )
})

/** A value that would be noticed. */
function forgery(known: unknown): unknown {
  if (typeof known === 'boolean') return !known
  if (typeof known === 'number') return known + 1
  if (known === undefined) return CANARY
  return typeof known === 'object' && known !== null ? { [CANARY]: CANARY } : CANARY
}

function discriminator({ typeId }: Json): Json {
  return typeId === undefined ? {} : { typeId }
}

function bodyMembers(path: string, method: string): readonly string[] {
  const operation = at(
    DOCUMENT,
    'paths',
    path,
    method.toLowerCase(),
    'requestBody',
    'content',
    'application/json',
    'schema',
  )
  const variants = [operation, ...listOf(at(operation, 'oneOf')), ...listOf(at(operation, 'anyOf'))]
  return variants.flatMap((variant) => Object.keys(Object(at(variant, 'properties'))))
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (Object(inner) === inner ? Reflect.get(Object(inner), key) : undefined),
    value,
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function namesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Object.keys(Object(at(value, 'properties')))
  return [...own, ...Object.values(value).flatMap(namesIn)]
}
