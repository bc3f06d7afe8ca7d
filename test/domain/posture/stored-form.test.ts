import { describe, expect, it } from 'vitest'
// Internals: pure rules, tried by the thousand and at instants that no endpoint reports.
import {
  storedHexList,
  storedOperatingSystems,
  storedProcess,
  storedProcesses,
} from '../../../src/facts/access/posture/rules/index.ts'

const process = { osType: 'LINUX', path: '/usr/bin/Av', hashes: ['AB:12'], signerFingerprint: '9F-01' }
const multi = { osType: 'Linux', path: '/a', hashes: ['AB 12'], signerFingerprints: ['9F'] }

describe('the stored form of a posture check', () => {
  it('names operating systems canonically, keeps the last entry of each and sorts them', () => {
    const given = [
      { type: 'WINDOWS', versions: ['>=10'] },
      { type: 'linux', versions: [] },
      { type: 'Windows', versions: ['>=11'] },
    ]
    expect(storedOperatingSystems(given)).toEqual({
      ok: true,
      value: [
        { type: 'Linux', versions: [] },
        { type: 'Windows', versions: ['>=11'] },
      ],
    })
  })

  it.each([
    [{ type: 'BeOS', versions: [] }, '[1].type', 'BeOS'],
    [{ type: 'WINDOWS', versions: ['10', 'newest'] }, '[Windows][1]', 'newest'],
  ])('has no form for the operating system %j', (entry, field, value) => {
    const stored = storedOperatingSystems([{ type: 'Linux', versions: [] }, entry])
    expect(stored).toMatchObject({ ok: false, field, value })
    expect(stored).toHaveProperty('reason', expect.stringMatching(/unknown operating system|^invalid version for os: /))
  })

  it('keeps the hex digits of addresses in lower case, and refuses a text without any', () => {
    expect(storedHexList(['14-B2-2C-E5-F0-61', 'AB'])).toEqual({ ok: true, value: ['14b22ce5f061', 'ab'] })
    expect(storedHexList(['14', 'zz'])).toMatchObject({ ok: false, field: '[1]', value: 'zz' })
  })

  it('keeps the path of a process verbatim and normalises the rest', () => {
    const value = { osType: 'Linux', path: '/usr/bin/Av', hashes: ['ab12'], signerFingerprint: '9f01' }
    expect(storedProcess(process)).toEqual({ ok: true, value })
  })

  it('leaves out an empty signer', () => {
    const value = { osType: 'Linux', path: '/usr/bin/Av', hashes: ['ab12'] }
    expect(storedProcess({ ...process, signerFingerprint: '' })).toEqual({ ok: true, value })
  })

  it.each([
    [{ osType: 'BeOS' }, 'osType'],
    [{ hashes: ['ab', '--'] }, 'hashes[1]'],
    [{ signerFingerprint: '--' }, 'signerFingerprint'],
  ])('has no form for a process with %j', (change, field) => {
    expect(storedProcess({ ...process, ...change })).toMatchObject({ ok: false, field })
  })

  it('keeps the last process of each system and path, sorted by both', () => {
    const given = [{ ...multi, path: '/b' }, { ...multi, hashes: [] }, multi, { ...multi, osType: 'macos' }]
    const value = { osType: 'Linux', path: '/a', hashes: ['ab12'], signerFingerprints: ['9f'] }
    expect(storedProcesses(given)).toEqual({
      ok: true,
      value: [value, { ...value, path: '/b' }, { ...value, osType: 'macOS' }],
    })
  })

  it('names the process and the field that has no form', () => {
    const wrong = { ...multi, signerFingerprints: ['--'] }
    expect(storedProcesses([multi, wrong])).toMatchObject({ ok: false, field: '[1].signerFingerprints[0]' })
  })
})
