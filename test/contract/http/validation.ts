import { describe, expect, it } from 'vitest'
import { dump, expectError, expectFieldError } from './errors.ts'
import { adminOf, create, type ForeignClient } from './foreign-client.ts'
import { KINDS } from './kinds.ts'
import type { Mount } from './mount.ts'

const kindOf = (path: string) => {
  const kind = KINDS.find((candidate) => candidate.path === path)
  if (kind === undefined) throw new Error(`no kind ${path}`)
  return kind
}

/** Values that a member may not have although they are of its JSON type. */
const OUT_OF_BOUNDS: readonly [string, string, unknown, string?][] = [
  ['/identities', 'type', 'Robot'],
  ['/identities', 'type', 'user'],
  ['/identities', 'defaultHostingCost', -1],
  ['/identities', 'defaultHostingCost', 65_536],
  ['/identities', 'defaultHostingPrecedence', 'urgent'],
  ['/identities', 'serviceHostingCosts', { x: 65_536 }, 'serviceHostingCosts.x'],
  ['/identities', 'serviceHostingPrecedences', { x: 'urgent' }, 'serviceHostingPrecedences.x'],
  ['/services', 'terminatorStrategy', 'luck'],
  ['/services', 'maxIdleTimeMillis', -1],
  ['/edge-routers', 'cost', -1],
  ['/edge-routers', 'cost', 65_536],
  ['/service-policies', 'type', 'dial'],
  ['/service-policies', 'semantic', 'OneOf'],
  ['/service-policies', 'semantic', 'allof'],
  ['/edge-router-policies', 'semantic', ''],
  ['/service-edge-router-policies', 'semantic', 'Any'],
  ['/posture-checks', 'domains', []],
]

/** Members of another JSON type than theirs. */
const WRONG_TYPES: readonly [string, string, readonly unknown[]][] = [
  ['/identities', 'name', [7, true, {}, ['x']]],
  ['/identities', 'isAdmin', ['true', 1, {}]],
  ['/identities', 'roleAttributes', ['a', { a: true }, 7]],
  ['/identities', 'appData', ['a', ['a'], 7]],
  ['/identities', 'tags', ['a', ['a'], 7]],
  ['/identities', 'defaultHostingCost', ['7', true]],
  ['/services', 'encryptionRequired', ['yes', 1]],
  ['/services', 'maxIdleTimeMillis', ['1']],
  ['/edge-routers', 'isTunnelerEnabled', ['no', 0]],
  ['/edge-routers', 'ctrlChanListeners', ['x', { a: 'b' }]],
  ['/service-policies', 'identityRoles', ['#a', [7], [['#a']]]],
  ['/edge-router-policies', 'edgeRouterRoles', [{}, '#all']],
  ['/service-edge-router-policies', 'serviceRoles', [true]],
  ['/posture-checks', 'domains', ['corp', [1], [null]]],
]

/** The first violation is told by its field, and nothing is written. */
export function describeValidation(open: Mount): void {
  const requests = async (path: string, member: string, value: unknown) => {
    const admin = await adminOf(await open())
    const { minimal, discriminator } = kindOf(path)
    const id = await create(admin, path, { name: 'one', ...minimal })
    const before = await dump(admin)
    const body = { name: 'two', ...minimal, [member]: value }
    const answers = [
      await admin.post(path, body),
      // The PUT and PATCH of the encryption of a service are not looked at.
      ...(member === 'encryptionRequired'
        ? []
        : [
            await admin.put(`${path}/${id}`, body),
            await admin.patch(`${path}/${id}`, { ...discriminator, [member]: value }),
          ]),
    ]
    expect(await dump(admin)).toBe(before)
    return answers
  }

  it.each(OUT_OF_BOUNDS)('%s: %s may not be %j', async (path, member, value, field = member) => {
    for (const answer of await requests(path, member, value))
      expectFieldError(answer, field, `${field} in body should `)
  })

  it.each(WRONG_TYPES)('%s: %s may not be any of %j', async (path, member, values) => {
    for (const value of values) {
      for (const answer of await requests(path, member, value)) {
        expect(answer.status, answer.text).toBe(400)
        expect(['COULD_NOT_PARSE_BODY', 'COULD_NOT_VALIDATE']).toContain(answer.body.error.code)
        expect(answer.body.error.cause.field ?? '', answer.text).toMatch(new RegExp(`^${member}(\\.|$)`))
      }
    }
  })

  it.each([1.5, 1e308, -1e308, 2 ** 53])('a cost may not be the number %d', async (value) => {
    for (const answer of await requests('/edge-routers', 'cost', value)) {
      expect(answer.status).toBe(400)
      expect(answer.body.error.cause.field).toBe('cost')
    }
  })

  it('a service policy may not have the type Invalid', async () => {
    for (const answer of await requests('/service-policies', 'type', 'Invalid')) {
      expectFieldError(answer, 'policyType', "invalid policy type. valid types are 'Dial' and 'Bind'")
    }
  })

  it('the type of a posture check is one of six', async () => {
    const admin = await adminOf(await open())
    for (const typeId of ['ENDPOINT_STATE', 'os', '', 'postureCheckUnknownCreate', '__proto__']) {
      const answer = await admin.post('/posture-checks', { name: 'x', typeId, domains: ['corp'] })
      expect([answer.status, answer.body.error.cause.field], answer.text).toEqual([400, 'typeId'])
    }
    expect((await admin.get('/posture-checks')).body.data).toEqual([])
  })

  it('a value in a cause is text, however it was sent', async () => {
    const admin = await adminOf(await open())
    const causeOf = async (path: string, body: object) => (await admin.post(path, body)).body.error.cause
    const router = await causeOf('/edge-routers', { name: 'x', cost: -7 })
    expect(router).toMatchObject({ field: 'cost', value: '-7' })
    const policy = { name: 'x', semantic: 'AllOf', type: 'Dial', identityRoles: ['@b', '@a'] }
    expect(await causeOf('/service-policies', policy)).toMatchObject({ field: 'identityRoles', value: '[a b]' })
    expect(await causeOf('/services', {})).toMatchObject({ field: 'name', value: '<nil>' })
  })

  describe('references', () => {
    const create404: readonly [string, (admin: ForeignClient) => Promise<object>, string][] = [
      ['an auth policy', async () => ({ authPolicyId: 'unknown' }), 'auth policy with id unknown not found'],
      ['a hosted service', async () => ({ serviceHostingCosts: { unknown: 1 } }), 'service with id unknown not found'],
      [
        'a preferred service',
        async () => ({ serviceHostingPrecedences: { unknown: 'failed' } }),
        'service with id unknown not found',
      ],
    ]
    it.each(create404)('%s of an identity must exist', async (_what, change, message) => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/identities', { name: 'one', ...kindOf('/identities').minimal })
      const before = await dump(admin)
      const body = { ...kindOf('/identities').minimal, ...(await change(admin)) }
      expectError(await admin.post('/identities', { name: 'two', ...body }), 'NOT_FOUND', { message })
      expectError(await admin.put(`/identities/${id}`, { name: 'one', ...body }), 'NOT_FOUND', { message })
      expectError(await admin.patch(`/identities/${id}`, await change(admin)), 'NOT_FOUND', { message })
      expect(await dump(admin)).toBe(before)
    })
  })
}
