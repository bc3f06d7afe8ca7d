import { describe, expect, it } from 'vitest'
import { expectDone, expectFieldError } from './errors.ts'
import { adminOf, create, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { CHECKS } from './posture-check-forms.ts'

/** Members of posture checks that may be written in more than one way. */
export function describePostureCheckSpellings(open: Mount): void {
  describe('spellings', () => {
    it.each([
      ['Windows', 'Windows'],
      ['WINDOWS', 'Windows'],
      ['windows', 'Windows'],
      ['Windows Server', 'WindowsServer'],
      ['WINDOWSSERVER', 'WindowsServer'],
      ['Linux', 'Linux'],
      ['MacOS', 'macOS'],
      ['IOS', 'iOS'],
      ['ANDROID', 'Android'],
    ])('%s is the operating system %s', async (given, stored) => {
      const admin = await adminOf(await open())
      const os = { name: 'os', typeId: 'OS', operatingSystems: [{ type: given, versions: [] }] }
      const process = { name: 'process', typeId: 'PROCESS', process: { os: given, path: '/a' } }
      const multi = {
        name: 'multi',
        typeId: 'PROCESS_MULTI',
        semantic: 'OneOf',
        processes: [{ os: given, path: '/a' }],
      }
      const shown = await Promise.all(
        [os, process, multi].map(async (body) =>
          read(admin, `/posture-checks/${await create(admin, '/posture-checks', body)}`),
        ),
      )
      expect(shown[0].operatingSystems).toEqual([{ type: stored, versions: [] }])
      expect(shown[1].process).toMatchObject({ osType: stored, path: '/a', hashes: [] })
      expect(shown[2]).toMatchObject({ semantic: 'OneOf', processes: [{ osType: stored }] })
    })

    it.each([
      ['postureCheckOperatingSystem', 'OS'],
      ['postureCheckDomain', 'DOMAIN'],
      ['postureCheckMacAddress', 'MAC'],
      ['postureCheckProcess', 'PROCESS'],
      ['postureCheckProcessMulti', 'PROCESS_MULTI'],
      ['postureCheckMfa', 'MFA'],
    ])('%sCreate, …Update and …Patch are %s', async (spelled, typeId) => {
      const admin = await adminOf(await open())
      const given = CHECKS.find(([type]) => type === typeId)?.[1]
      const id = await create(admin, '/posture-checks', { name: 'check', typeId: `${spelled}Create`, ...given })
      expectDone(await admin.put(`/posture-checks/${id}`, { name: 'put', typeId: `${spelled}Update`, ...given }))
      expectDone(await admin.patch(`/posture-checks/${id}`, { name: 'patched', typeId: `${spelled}Patch` }))
      expect(await read(admin, `/posture-checks/${id}`)).toMatchObject({ name: 'patched', typeId })
    })

    it('Type and Versions of an operating system are type and versions, on create and on change', async () => {
      const admin = await adminOf(await open())
      const os = (Type: string, Versions: string[] | null) => ({ typeId: 'OS', operatingSystems: [{ Type, Versions }] })
      const id = await create(admin, '/posture-checks', { name: 'os', ...os('Windows', ['>=10.0.0']) })
      expect((await read(admin, `/posture-checks/${id}`)).operatingSystems).toEqual([
        { type: 'Windows', versions: ['>=10.0.0'] },
      ])
      expectDone(await admin.patch(`/posture-checks/${id}`, os('linux', null)))
      expect((await read(admin, `/posture-checks/${id}`)).operatingSystems).toEqual([{ type: 'Linux', versions: [] }])
    })

    it('attributes are role attributes, unless these are given', async () => {
      const admin = await adminOf(await open())
      const check = { typeId: 'DOMAIN', domains: ['x'], attributes: ['a'] }
      const one = await create(admin, '/posture-checks', { ...check, name: 'one' })
      const two = await create(admin, '/posture-checks', { ...check, name: 'two', roleAttributes: ['b'] })
      const three = await create(admin, '/posture-checks', { ...check, name: 'three', roleAttributes: null })
      expect(await read(admin, `/posture-checks/${one}`)).toMatchObject({ roleAttributes: ['a'] })
      expect(await read(admin, `/posture-checks/${two}`)).toMatchObject({ roleAttributes: ['b'] })
      expect(await read(admin, `/posture-checks/${three}`)).toMatchObject({ roleAttributes: ['a'] })
    })
  })

  describe('version ranges', () => {
    const body = (version: string) => ({
      name: 'os',
      typeId: 'OS',
      operatingSystems: [{ type: 'Linux', versions: ['1.0.0', version] }],
    })

    it.each([
      '1.2.3',
      '=1.2.3',
      '== 1.2.3',
      '!=1.2.3',
      '>=1.2.3 <2.0.0',
      '>= 1.2.3 < 2.0.0',
      '<1.0.0 || >2.0.0',
      '1.2.3-beta.1+build',
      '1.x',
      '1.2.x',
      '10',
      '10.15',
      '~1.2.3',
      '^1.2.3',
    ])('%s is one', async (version) => {
      const admin = await adminOf(await open())
      const id = await create(admin, '/posture-checks', body(version))
      expect((await read(admin, `/posture-checks/${id}`)).operatingSystems[0].versions).toContain(version)
    })

    it.each([
      '',
      'v1.2.3',
      'latest',
      '1.2.3.4',
      '1.2.3 ||',
      '|| 1.2.3',
      '>',
      '>>1.0.0',
      '01.2.3',
      '1.2.3 and 2.0.0',
      '(1.2.3)',
    ])('%j is none', async (version) => {
      const admin = await adminOf(await open())
      const reason = `invalid version for os: [Linux], version: [${version}]`
      expectFieldError(await admin.post('/posture-checks', body(version)), 'operatingSystems[Linux][1]', reason)
      expect((await admin.get('/posture-checks')).body.data).toEqual([])
    })
  })
}
