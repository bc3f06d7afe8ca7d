import 'reflect-metadata'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { newAuthority, now, registered } from '../support/third-party.ts'

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

  it('an address of a control channel with null for its groups has none', async () => {
    const admin = await adminOf(await mount())
    const listeners = { 'tls:a:1': null, 'tls:b:2': ['near'] }
    const kept = { 'tls:a:1': [], 'tls:b:2': ['near'] }
    for (const path of ['/edge-routers', '/transit-routers', '/routers']) {
      const id = await create(admin, path, { name: path, ctrlChanListeners: listeners })
      const shown = async () => (await read(admin, `${path}/${id}`)).ctrlChanListeners
      expect(await shown()).toEqual(kept)
      expectDone(await admin.patch(`${path}/${id}`, { ctrlChanListeners: { 'tls:c:3': null } }))
      expect(await shown()).toEqual({ 'tls:c:3': [] })
      expectDone(await admin.put(`${path}/${id}`, { name: path, ctrlChanListeners: listeners }))
      expect(await shown()).toEqual(kept)
      for (const wrong of ['near', [null], { a: 1 }]) {
        const answer = await admin.patch(`${path}/${id}`, { ctrlChanListeners: { 'tls:c:3': wrong } })
        expect(answer.status, answer.text).toBe(400)
      }
    }
  })

  it('a claim of a CA leaves out the criteria that nothing asks for', async () => {
    const admin = await adminOf(await mount({ now }))
    const whole = { location: 'COMMON_NAME', matcher: 'ALL', parser: 'NONE', index: 0 }
    const id = await registered(admin, await newAuthority('third party'), { externalIdClaim: whole })
    const bare = await registered(admin, await newAuthority('bare'), { name: 'bare' })
    const shown = async (ca: string) => (await read(admin, `/cas/${ca}`)).externalIdClaim
    const kept = { ...whole, matcherCriteria: '', parserCriteria: '' }
    expect(await shown(id)).toEqual(kept)
    expectDone(await admin.patch(`/cas/${bare}`, { externalIdClaim: { ...whole, parserCriteria: null } }))
    expect(await shown(bare)).toEqual(kept)
    const split = { ...whole, parser: 'SPLIT', parserCriteria: '-' }
    expectDone(await admin.patch(`/cas/${id}`, { externalIdClaim: split }))
    expectDone(await admin.patch(`/cas/${id}`, { externalIdClaim: { parser: 'NONE' } }))
    expect(await shown(id)).toMatchObject({ parser: 'NONE', parserCriteria: '-' })
    for (const [change, member] of [
      [{ parser: 'SPLIT' }, 'parserCriteria'],
      [{ matcher: 'PREFIX' }, 'matcherCriteria'],
      [{ index: undefined }, 'index'],
    ] as const) {
      const answer = await admin.patch(`/cas/${bare}`, { externalIdClaim: { ...whole, ...change } })
      if (member === 'index') expectDone(answer)
      else expectError(answer, 'INVALID_FIELD', { field: `externalIdClaim.${member}` })
    }
  })

  it('the OpenID provider is described below its own path, and nothing of it at the root of the server', async () => {
    const anybody = foreignClient(await mount(), '')
    const document = '.well-known/openid-configuration'
    expect((await anybody.get(`/oidc/${document}`)).body.issuer).toContain('/oidc')
    for (const path of ['', '/', '/edge/client/v1', '/edge/management/v1', '/fabric/v1', '/portcullis/v1']) {
      const answer = await anybody.get(`${path}/${document}`)
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 404, 'NOT_FOUND'])
    }
  })
})
