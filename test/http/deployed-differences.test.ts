import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const TERMINATOR = { address: 'tcp:a:1', binding: 'transport' }

describe('requests that deployed controllers read in a way of their own', () => {
  it.each(['/identities/{}/services', '/services/{}/identities'])('an empty policyType of %s is none', async (path) => {
    const admin = await adminOf(await mount())
    const service = await create(admin, '/services', { name: 's' })
    const identity = await create(admin, '/identities', { name: 'i', type: 'User', isAdmin: false })
    const roles = { semantic: 'AnyOf', identityRoles: [`@${identity}`], serviceRoles: [`@${service}`] }
    await create(admin, '/service-policies', { name: 'p', type: 'Bind', ...roles })
    const below = path.replace('{}', path.startsWith('/services') ? service : identity)
    expect((await admin.get(`${below}?policyType=`)).body.data).toHaveLength(1)
    expect((await admin.get(`${below}?policyType=BIND`)).body.data).toHaveLength(1)
    expect((await admin.get(`${below}?policyType=dial`)).body.data).toHaveLength(0)
    expectFieldError(await admin.get(`${below}?policyType=both`), 'policyType')
  })

  it('an identitySecret is bytes in base64', async () => {
    const admin = await adminOf(await mount())
    const service = await create(admin, '/services', { name: 's' })
    const router = await create(admin, '/edge-routers', { name: 'r' })
    const body = { ...TERMINATOR, service, router, identity: 'me' }
    for (const identitySecret of ['not base64!', 'YQ', '=', 'YQ==\n']) {
      const answer = await admin.post('/terminators', { ...body, identitySecret })
      expectError(answer, 'COULD_NOT_PARSE_BODY')
      expect(answer.text).toContain('identitySecret')
      expect(answer.text).not.toContain('not base64!')
    }
    for (const identitySecret of ['', 'YQ==', 'c2VjcmV0'])
      await create(admin, '/terminators', { ...body, identitySecret })
  })

  it('an empty externalAuthUrl is none', async () => {
    const admin = await adminOf(await mount())
    const keys = { jwksEndpoint: 'https://idp.example/keys', externalAuthUrl: '' }
    const body = { name: 'idp', issuer: 'https://idp.example', audience: 'network', enabled: true, ...keys }
    const id = await create(admin, '/external-jwt-signers', body)
    const shown = async () => (await read(admin, `/external-jwt-signers/${id}`)).externalAuthUrl
    expect(await shown()).toBeNull()
    await admin.patch(`/external-jwt-signers/${id}`, { externalAuthUrl: 'https://idp.example/login' })
    expect(await shown()).toBe('https://idp.example/login')
    await admin.patch(`/external-jwt-signers/${id}`, { externalAuthUrl: '' })
    expect(await shown()).toBeNull()
  })

  it.each(['not a uri', 'https://exa mple/keys'])('%j is no jwksEndpoint', async (jwksEndpoint) => {
    const admin = await adminOf(await mount())
    const body = { name: 'idp', issuer: 'https://idp.example', audience: 'network', enabled: true }
    const reason = `jwksEndpoint in body must be of type uri: ${JSON.stringify(jwksEndpoint)}`
    expectFieldError(await admin.post('/external-jwt-signers', { ...body, jwksEndpoint }), 'jwksEndpoint', reason)
  })

  it.each(['identityRoles', 'serviceRoles', 'postureCheckRoles'])(
    '#all stands alone in %s, and once',
    async (field) => {
      const admin = await adminOf(await mount())
      const body = { name: 'p', type: 'Dial', semantic: 'AnyOf' }
      const reason = 'if using #all, it should be the only role specified'
      for (const roles of [
        ['#all', '#all'],
        ['#all', '#x'],
      ]) {
        expectFieldError(await admin.post('/service-policies', { ...body, [field]: roles }), field, reason)
      }
      const id = await create(admin, '/service-policies', { ...body, [field]: ['#all'] })
      expectFieldError(await admin.patch(`/service-policies/${id}`, { [field]: ['#all', '#all'] }), field, reason)
    },
  )

  it('an empty choice in a patch is the choice that stands where none is made', async () => {
    const admin = await adminOf(await mount())
    const service = await create(admin, '/services', { name: 's', terminatorStrategy: 'random' })
    expectDone(await admin.patch(`/services/${service}`, { terminatorStrategy: '' }))
    expect(await read(admin, `/services/${service}`)).toMatchObject({ terminatorStrategy: 'smartrouting', name: 's' })
    const router = await create(admin, '/edge-routers', { name: 'r' })
    const terminator = await create(admin, '/terminators', { ...TERMINATOR, service, router, precedence: 'required' })
    expectDone(await admin.patch(`/terminators/${terminator}`, { precedence: '' }))
    expect(await read(admin, `/terminators/${terminator}`)).toMatchObject({ precedence: 'default' })
    const policy = await create(admin, '/service-policies', { name: 'p', type: 'Dial', semantic: 'AnyOf' })
    for (const field of ['semantic', 'type']) {
      expectFieldError(await admin.patch(`/service-policies/${policy}`, { [field]: '' }), field)
    }
  })
})
