import { expect, it } from 'vitest'
import { dump, expectDone, expectFieldError } from './errors.ts'
import { adminOf, create, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { CHECKS, SHA256 } from './posture-check-forms.ts'

/** The members that each type cannot be without. */
const REQUIRED: readonly [string, object, string][] = [
  ['OS', {}, 'operatingSystems'],
  ['OS', { operatingSystems: [] }, 'operatingSystems'],
  ['OS', { operatingSystems: [{ versions: [] }] }, 'operatingSystems.0.type'],
  ['OS', { operatingSystems: [{ type: 'Plan 9', versions: [] }] }, 'operatingSystems.0.type'],
  ['DOMAIN', { macAddresses: ['14b22ce5f061'] }, 'domains'],
  ['MAC', {}, 'macAddresses'],
  ['MAC', { macAddresses: [] }, 'macAddresses'],
  ['MAC', { macAddresses: ['zz'] }, 'macAddresses[0]'],
  ['PROCESS', {}, 'process'],
  ['PROCESS', { process: { osType: 'Linux' } }, 'process.path'],
  ['PROCESS', { process: { path: '/a' } }, 'process.osType'],
  ['PROCESS', { process: { path: '', osType: 'Linux' } }, 'process.path'],
  ['PROCESS', { process: { path: '/a', osType: 'BeOS' } }, 'process.osType'],
  ['PROCESS_MULTI', { processes: [{ osType: 'Linux', path: '/a' }] }, 'semantic'],
  ['PROCESS_MULTI', { semantic: 'AllOf' }, 'processes'],
  ['PROCESS_MULTI', { semantic: 'AllOf', processes: [] }, 'processes'],
  ['PROCESS_MULTI', { semantic: 'NoneOf', processes: [{ osType: 'Linux', path: '/a' }] }, 'semantic'],
  ['PROCESS_MULTI', { semantic: 'AllOf', processes: [{ osType: 'Linux' }] }, 'processes.0.path'],
]

/** The members of types that were not chosen, as the deployed admin console sends them. */
const BLANK_FORM = {
  domains: [],
  macAddresses: [],
  operatingSystems: [],
  process: { hashes: [], osType: '', path: '' },
  processes: [],
  semantic: '',
  timeoutSeconds: '',
  ignoreLegacyEndpoints: '',
  promptOnUnlock: '',
  promptOnWake: '',
}

/** The form of the admin console before anybody fills it in: all of it is sent, for any chosen type. */
const CONSOLE_FORM = {
  semantic: 'AllOf',
  roleAttributes: [],
  domains: [],
  macAddresses: [],
  operatingSystems: [],
  processes: [{ hashes: [], osType: '', path: '', signerFingerprints: [] }],
  process: { hashes: [], osType: '', path: '', signerFingerprint: '' },
  promptOnWake: false,
  promptOnUnlock: false,
  timeoutSeconds: 0,
  tags: {},
}
const FILLED_IN: readonly [string, object][] = [
  ['OS', { operatingSystems: [{ type: 'Windows', versions: ['>=10.0.0'] }] }],
  ['DOMAIN', { domains: ['corp'] }],
  ['MAC', { macAddresses: ['0123456789ab'] }],
  ['MFA', { timeoutSeconds: 60, promptOnWake: true, promptOnUnlock: false }],
  ['PROCESS', { process: { hashes: [], osType: 'Linux', path: '/bin/a', signerFingerprint: '' } }],
  [
    'PROCESS_MULTI',
    { semantic: 'AllOf', processes: [{ hashes: [], osType: 'Linux', path: '/bin/a', signerFingerprints: [] }] },
  ],
]

/** Posture checks of every type: created, shown, replaced. */
export function describePostureChecks(open: Mount): void {
  it.each(CHECKS)('%s is kept in its normal form, with the members of its type only', async (typeId, given, shown) => {
    const admin = await adminOf(await open())
    const others = Object.assign({}, ...CHECKS.filter(([type]) => type !== typeId).map(([, body]) => body))
    const id = await create(admin, '/posture-checks', {
      ...others,
      name: 'check',
      typeId,
      roleAttributes: ['a'],
      ...given,
    })
    const { _links, createdAt, updatedAt, ...rest } = await read(admin, `/posture-checks/${id}`)
    expect(_links).toEqual({ self: { href: `./posture-checks/${id}` } })
    expect(rest).toEqual({ id, name: 'check', tags: {}, roleAttributes: ['a'], typeId, version: 1, ...shown })
  })

  it.each(CHECKS)(
    '%s is created, replaced and patched by a form that sends the members of all types',
    async (...row) => {
      const [typeId, given, shown] = row
      const admin = await adminOf(await open())
      const form = { ...BLANK_FORM, name: 'check', typeId, ...given }
      const at = `/posture-checks/${await create(admin, '/posture-checks', form)}`
      expect(await read(admin, at)).toMatchObject({ typeId, ...shown })
      expectDone(await admin.put(at, { ...form, name: 'replaced' }))
      expectDone(await admin.patch(at, { ...form, name: 'patched', roleAttributes: ['a'] }))
      const { _links, createdAt, updatedAt, id, tags, version, ...rest } = await read(admin, at)
      expect(rest).toEqual({ name: 'patched', roleAttributes: ['a'], typeId, ...shown })
    },
  )

  it.each(FILLED_IN)('%s is made and changed by what the admin console sends', async (typeId, own) => {
    const admin = await adminOf(await open())
    const form = { ...CONSOLE_FORM, ...own, typeId, name: 'check' }
    const at = `/posture-checks/${await create(admin, '/posture-checks', form)}`
    expect(await read(admin, at)).toMatchObject({ typeId, name: 'check', ...own })
    expectDone(await admin.patch(at, { ...form, id: at.slice(-1), name: 'patched' }))
    const shown = await read(admin, at)
    expect(shown).toMatchObject({ typeId, name: 'patched', roleAttributes: [], ...own })
    const foreign = Object.keys(Object.assign({}, ...FILLED_IN.map(([, others]) => others)))
    for (const member of foreign.filter((name) => !Object.hasOwn(own, name))) expect(shown).not.toHaveProperty(member)
  })

  it.each([{ toString: 1 }, ['OS'], 5, true, 'constructor', '__proto__', 'toString', 'postureCheckNoneCreate'])(
    'a type of %j is refused',
    async (typeId) => {
      const admin = await adminOf(await open())
      expectFieldError(await admin.post('/posture-checks', { ...BLANK_FORM, name: 'check', typeId }), 'typeId')
    },
  )

  it.each(REQUIRED)('%s of %j is refused for %s', async (typeId, given, field) => {
    const admin = await adminOf(await open())
    expectFieldError(await admin.post('/posture-checks', { name: 'check', typeId, ...given }), field)
    expect((await admin.get('/posture-checks')).body.data).toEqual([])
  })

  it.each(CHECKS)('%s stays of its type, whatever an update says', async (typeId, given, shown) => {
    const admin = await adminOf(await open())
    const at = `/posture-checks/${await create(admin, '/posture-checks', { name: 'check', typeId, ...given })}`
    const other = typeId === 'MAC' ? { typeId: 'DOMAIN', domains: ['x'] } : { typeId: 'MAC', macAddresses: ['00'] }
    expectDone(await admin.patch(at, { ...other, name: 'renamed' }))
    expect(await read(admin, at)).toMatchObject({ name: 'renamed', typeId, ...shown })
    expect(await read(admin, at)).not.toHaveProperty(typeId === 'MAC' ? 'domains' : 'macAddresses')
  })

  it.each([
    ['MFA', { timeoutSeconds: 60, promptOnWake: true }, { promptOnUnlock: true }],
    ['PROCESS', { process: { osType: 'Linux', path: '/a', hashes: [SHA256] } }, { process: { path: '/b' } }],
    ['PROCESS_MULTI', { semantic: 'AllOf', processes: [{ osType: 'Linux', path: '/a' }] }, { semantic: 'OneOf' }],
  ])('PATCH of %s keeps what it does not name', async (typeId, given, change) => {
    const admin = await adminOf(await open())
    const at = `/posture-checks/${await create(admin, '/posture-checks', { name: 'check', typeId, ...given })}`
    const before = await read(admin, at)
    expectDone(await admin.patch(at, { typeId, ...change }))
    const process = 'process' in change ? { process: { ...before.process, ...change.process } } : {}
    expect(await read(admin, at)).toEqual({ ...before, ...change, ...process })
  })

  it.each([
    ['OS', { operatingSystems: [] }],
    ['MAC', { macAddresses: [] }],
    ['PROCESS_MULTI', { processes: [] }],
    ['PROCESS', { process: { path: '' } }],
  ])('PATCH of %s by %j changes nothing', async (typeId, change) => {
    const admin = await adminOf(await open())
    const given = CHECKS.find(([type]) => type === typeId)?.[1]
    const id = await create(admin, '/posture-checks', { name: 'check', typeId, ...given })
    const before = await dump(admin)
    expect((await admin.patch(`/posture-checks/${id}`, { typeId, ...change })).status).toBe(400)
    expect(await dump(admin)).toBe(before)
  })

  it.each([0, -1, -3600])('a timeout of %i seconds is none', async (timeoutSeconds) => {
    const admin = await adminOf(await open())
    const id = await create(admin, '/posture-checks', { name: 'check', typeId: 'MFA', timeoutSeconds })
    expect(await read(admin, `/posture-checks/${id}`)).toMatchObject({ timeoutSeconds: -1 })
  })

  it('of equal entries the last is kept', async () => {
    const admin = await adminOf(await open())
    const operatingSystems = [
      { type: 'Linux', versions: ['1.0.0'] },
      { type: 'linux', versions: ['2.0.0'] },
    ]
    const os = await create(admin, '/posture-checks', { name: 'os', typeId: 'OS', operatingSystems })
    expect((await read(admin, `/posture-checks/${os}`)).operatingSystems).toEqual([
      { type: 'Linux', versions: ['2.0.0'] },
    ])
    const processes = [SHA256, ''].map((hash) => ({ osType: 'Linux', path: '/a', hashes: hash === '' ? [] : [hash] }))
    const body = { name: 'multi', typeId: 'PROCESS_MULTI', semantic: 'AllOf', processes }
    const multi = await create(admin, '/posture-checks', body)
    expect((await read(admin, `/posture-checks/${multi}`)).processes).toEqual([
      { ...processes[1], signerFingerprints: [] },
    ])
  })
}
