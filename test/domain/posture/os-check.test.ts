import { emptyPostureData, evaluateCheck } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { read } from '../../contract/http/foreign-client.ts'
import { network } from '../../support/network.ts'
import { osCheck, reported, SESSION, START } from './checks.ts'

const windows = { type: 'Windows', versions: ['>=10.0.19041'] } as const
const linux = { type: 'Linux', versions: [] } as const
const macOS = { type: 'macOS', versions: ['>=11.0.0'] } as const

describe('OS posture check', () => {
  it.each([
    ['a listed system in a listed version', [windows], 'Windows', '10.0.19041', true],
    ['a listed system in a version out of range', [windows], 'Windows', '10.0.18363', false],
    ['a listed system in any of several ranges', [{ ...windows, versions: ['<1', '10.x'] }], 'Windows', '10.0.1', true],
    ['a system that is not listed', [windows], 'Linux', '10.0.19041', false],
    ['one of several listed systems', [windows, linux], 'Linux', '5.4.0', true],
    ['a system without ranges, whatever its version', [linux], 'Linux', 'unknown', true],
    ['a system without ranges, without a version', [linux], 'Linux', '', true],
    ['a version that cannot be read against a range', [windows], 'Windows', 'unknown', false],
    ['a version of four parts', [windows], 'Windows', '10.0.19041.1', false],
    ['a version of two parts, padded with zeros', [macOS], 'macOS', '11.0', true],
    ['a version of one part, padded with zeros', [macOS], 'macOS', '10', false],
    ['a system in another case', [linux], 'LINUX', '5.4.0', true],
    ['a system as the C SDK spells it', [windows], 'windows', '10.0.22000', true],
    ['Windows Server, which is not Windows', [windows], 'windowsserver', '10.0.22000', false],
    ['Windows Server with a space', [{ type: 'WindowsServer', versions: [] } as const], 'Windows Server', '1', true],
    ['Darwin, which is macOS', [macOS], 'Darwin', '22.1.0', true],
    ['a prerelease, which is below its release', [{ ...linux, versions: ['>=5.15.0'] }], 'Linux', '5.15.0-91', false],
    ['an unknown system', [linux], 'Plan9', '4.0.0', false],
    ['the last of two entries for a system', [linux, { ...linux, versions: ['>6'] }], 'Linux', '5.0.0', false],
    ['a stored range that cannot be read', [{ ...linux, versions: ['newest'] }], 'Linux', '5.0.0', false],
    ['a check that lists no system', [], 'Linux', '5.0.0', false],
  ] as const)('decides on %s', (_situation, operatingSystems, type, version, passes) => {
    const data = reported({ id: 'any', typeId: 'OS', type, version })
    expect(evaluateCheck(osCheck(...operatingSystems), data, SESSION, START)).toBe(passes)
  })

  it('fails while no operating system was reported', () => {
    expect(evaluateCheck(osCheck(linux), emptyPostureData(), SESSION, START)).toBe(false)
  })
})

/** The stored names of operating systems, by the names of requests; undefined for a name that is refused. */
const NAMES: readonly (readonly [string, string | undefined])[] = [
  ['WINDOWS', 'Windows'],
  ['Windows Server', 'WindowsServer'],
  ['windowsserver', 'WindowsServer'],
  ['ANDROID', 'Android'],
  ['ios', 'iOS'],
  ['linux', 'Linux'],
  ['MacOS', 'macOS'],
  ['mac os', 'macOS'],
  ['darwin', undefined],
  ['BeOS', undefined],
  ['', undefined],
  ['constructor', undefined],
]

it('operating systems are stored under one name, and unknown ones are refused', async () => {
  const { admin } = await network()
  const stored: (readonly [string, string | undefined])[] = []
  for (const [name] of NAMES) {
    const operatingSystems = [{ type: name, versions: [] }]
    const answer = await admin.post('/posture-checks', { name: `os ${name}`, typeId: 'OS', operatingSystems })
    const kept = answer.status === 201 ? await read(admin, `/posture-checks/${answer.body.data.id}`) : undefined
    stored.push([name, kept?.operatingSystems[0].type])
  }
  expect(stored).toEqual(NAMES)
})
