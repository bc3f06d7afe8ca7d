import fc from 'fast-check'
import { applyResponses, emptyPostureData, evaluateCheck, type PostureCheck } from 'portcullis/policy'
import { expect, it } from 'vitest'
import {
  modelCodec,
  postureCheckFields,
  postureCheckOf,
} from '../../../adapters/network/fabric/messages/model-codec.ts'
import { StateEvents } from '../../../adapters/network/fabric/messages/model-definitions.ts'
// Internals: the members of each kind of check, so that none is left out.
import { membersOf } from '../../../src/facts/access/posture/rules/index.ts'
import { check, data, instantMs } from '../../domain/posture/arbitraries.ts'
import { osCheck, processMultiCheck, reported, SESSION } from '../../domain/posture/checks.ts'

const ANY_VERSION = '<0.0.0 || >=0.0.0'

/** A check as a router learns it from its controller. */
function learnt(sent: PostureCheck): PostureCheck {
  const bytes = modelCodec.state([{ action: 'create', entity: { type: 'posture-check', check: sent } }])
  const [event] = StateEvents.decode(bytes).events
  if (event?.postureCheck === undefined) throw new Error('no posture check came')
  return postureCheckOf(event.postureCheck)
}

/** A check in the form in which it is stored; undefined where it has none. */
function stored(given: PostureCheck): PostureCheck | undefined {
  const members = Object.entries(membersOf(given.typeId)).map(([name, member]) => {
    const form = member.stored(Reflect.get(given, name), false)
    return [name, form.ok ? form.value : undefined]
  })
  return members.some(([, value]) => value === undefined) ? undefined : { ...given, ...Object.fromEntries(members) }
}

it('an operating system of any version reaches routers as a range that every version is in', () => {
  const operatingSystems = [
    { type: 'Linux' as const, versions: [] },
    { type: 'Windows' as const, versions: ['>=10.0.19041'] },
  ]
  expect(postureCheckFields({ id: 'c', name: 'c', typeId: 'OS', operatingSystems }).osList).toEqual({
    osList: [
      { osType: 'Linux', osVersions: [ANY_VERSION] },
      { osType: 'Windows', osVersions: ['>=10.0.19041'] },
    ],
  })
})

it('a router of ours admits a version that cannot be read exactly where its controller does', () => {
  const known = reported({ id: 'os', typeId: 'OS', type: 'linux', version: 'unknown' })
  const passes = (versions: readonly string[]) => {
    const asked = osCheck({ type: 'Linux', versions })
    return [asked, learnt(asked)].map((one) => evaluateCheck(one, known, SESSION, 0))
  }
  expect(passes([])).toEqual([true, true])
  expect(passes(['>=0.0.0'])).toEqual([false, false])
})

it('one process of several is asked of routers by the word that all of them know', () => {
  const words = (['OneOf', 'AnyOf', 'AllOf'] as const).map((semantic) => {
    return postureCheckFields(processMultiCheck(semantic, { path: '/a' })).processMulti?.semantic
  })
  expect(words).toEqual(['AnyOf', 'AnyOf', 'AllOf'])
})

it('values that deployed routers compare letter by letter reach them in the spellings that endpoints report', () => {
  const asked = { id: 'c', name: 'c' }
  const spelled = (sent: PostureCheck) => postureCheckFields(sent)
  expect(spelled({ ...asked, typeId: 'MAC', macAddresses: ['0a1b'] }).mac?.macAddresses).toEqual(
    expect.arrayContaining(['0a1b', '0A1B', '0a:1b', '0A:1B', '0a-1b', '0A-1B']),
  )
  expect(spelled({ ...asked, typeId: 'DOMAIN', domains: ['Corp'] }).domains?.domains).toEqual(['Corp', 'corp', 'CORP'])
  const process = { osType: 'Linux', path: '/a', hashes: ['ab'], signerFingerprint: 'cd' } as const
  expect(spelled({ ...asked, typeId: 'PROCESS', process }).process).toMatchObject({
    hashes: ['ab', 'AB'],
    fingerprints: ['cd', 'CD'],
  })
})

it('a report under the id of a check counts for a router of ours as for its controller', () => {
  const asked: PostureCheck = {
    ...{ id: 'agent', name: 'agent', typeId: 'PROCESS' },
    process: { osType: 'Windows', path: 'C:\\agent.exe', hashes: [] },
  }
  const report = { id: 'agent', typeId: 'PROCESS', path: 'c:\\AGENT.EXE', isRunning: true } as const
  const known = applyResponses(emptyPostureData(), SESSION, [report], 0)
  expect([asked, learnt(asked)].map((one) => evaluateCheck(one, known, SESSION, 0))).toEqual([true, true])
})

const ODD_DIGITS: PostureCheck = { id: 'mac', name: 'mac', typeId: 'MAC', macAddresses: ['AB0'] }

/** The report of an endpoint with one address. */
const ofAddress = (address: string) => reported({ id: 'mac', typeId: 'MAC', macAddresses: [address] })

it('a check that a router of ours learnt passes exactly when it does for its controller', () => {
  fc.assert(
    fc.property(check, data, instantMs, (given, known, now) => {
      const kept = stored(given)
      fc.pre(kept !== undefined)
      expect(evaluateCheck(learnt(kept), known, SESSION, now)).toBe(evaluateCheck(kept, known, SESSION, now))
    }),
    { numRuns: 2000, examples: [[ODD_DIGITS, ofAddress('ab'), 0]] },
  )
})
