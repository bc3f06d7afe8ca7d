import { describe, expect, it } from 'vitest'
import { expectDone, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, create, foreignClient, MANAGEMENT, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { authPolicy } from '../support/people.ts'

const PROCESS = { osType: 'Linux', path: '/a' }

/** Bodies with null for members inside of objects and lists that may be left out, and how the entity is shown then. */
const CREATED: readonly [string, object, object][] = [
  [
    '/posture-checks',
    { name: 'x', typeId: 'PROCESS', process: { ...PROCESS, hashes: null, signerFingerprint: null } },
    { process: { ...PROCESS, hashes: [], signerFingerprint: '' } },
  ],
  [
    '/posture-checks',
    {
      name: 'x',
      typeId: 'PROCESS_MULTI',
      semantic: 'AllOf',
      processes: [{ ...PROCESS, hashes: null, signerFingerprints: null }],
    },
    { processes: [{ ...PROCESS, hashes: [], signerFingerprints: [] }] },
  ],
  [
    '/posture-checks',
    { name: 'x', typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: null }] },
    { operatingSystems: [{ type: 'Linux', versions: [] }] },
  ],
  [
    '/identities',
    { name: 'x', type: 'User', isAdmin: false, enrollment: { ott: true, ottca: null, updb: null } },
    { enrollment: { ott: expect.anything() } },
  ],
  ['/auth-policies', authPolicy('x', {}, { requireExtJwtSigner: null }), authPolicy('x')],
  ['/services', { name: 'x', encryptionRequired: true, tags: { kept: null } }, { tags: { kept: null } }],
  [
    '/identities',
    { name: 'x', type: 'User', isAdmin: false, appData: { a: { b: null } } },
    { appData: { a: { b: null } } },
  ],
]

/** Bodies with an empty choice, and what stands instead. */
const EMPTY_CHOICES: readonly [string, object, object][] = [
  [
    '/services',
    { name: 'x', encryptionRequired: true, terminatorStrategy: '' },
    { terminatorStrategy: 'smartrouting' },
  ],
  [
    '/identities',
    { name: 'x', type: 'User', isAdmin: false, defaultHostingPrecedence: '' },
    { defaultHostingPrecedence: 'default' },
  ],
]

describe('an empty choice counts as not sent where there is a default', () => {
  it.each(EMPTY_CHOICES)('in what creates and replaces %s: %j', async (path, body, shown) => {
    const admin = await adminOf(await mount())
    const id = await create(admin, path, body)
    expect(await read(admin, `${path}/${id}`)).toMatchObject(shown)
    expectDone(await admin.put(`${path}/${id}`, body))
    expect(await read(admin, `${path}/${id}`)).toMatchObject(shown)
  })

  it('but what must be chosen must be', async () => {
    const admin = await adminOf(await mount())
    expectFieldError(await admin.post('/service-policies', { name: 'x', type: 'Dial', semantic: '' }), 'semantic')
  })
})

describe('null for a member counts as not sent, at any depth', () => {
  it.each(CREATED)('in what creates %s: %j', async (path, body, shown) => {
    const admin = await adminOf(await mount())
    const id = await create(admin, path, body)
    expect(await read(admin, `${path}/${id}`)).toMatchObject(shown)
  })

  it('in what changes an entity', async () => {
    const admin = await adminOf(await mount())
    const process = { ...PROCESS, hashes: ['0a'.repeat(32)], signerFingerprint: 'ab'.repeat(20) }
    const id = await create(admin, '/posture-checks', { name: 'x', typeId: 'PROCESS', process })
    const change = { typeId: 'PROCESS', process: { osType: null, path: '/b', hashes: null, signerFingerprint: null } }
    expectDone(await admin.patch(`/posture-checks/${id}`, change))
    expect(await read(admin, `/posture-checks/${id}`)).toMatchObject({ process: { ...process, path: '/b' } })
  })

  it('in what a client tells of itself when it logs in', async () => {
    const mounted = await mount()
    const body = {
      username: 'admin',
      password: 'admin-password',
      configTypes: null,
      envInfo: { os: 'Linux', arch: null, domain: null },
      sdkInfo: { type: 'sdk', appId: null },
    }
    const { token } = (await foreignClient(mounted, MANAGEMENT).post('/authenticate?method=password', body)).body.data
    const self = await read(foreignClient(mounted, MANAGEMENT, token), '/current-identity')
    expect(self).toMatchObject({ envInfo: { os: 'Linux' }, sdkInfo: { type: 'sdk' } })
  })

  it('but what must be sent must be sent', async () => {
    const admin = await adminOf(await mount())
    const body = { name: 'x', typeId: 'PROCESS', process: { osType: 'Linux', path: null } }
    expectFieldError(await admin.post('/posture-checks', body), 'process.path', 'is required')
  })
})
