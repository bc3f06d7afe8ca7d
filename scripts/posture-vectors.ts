import { readFile, writeFile } from 'node:fs/promises'
import {
  applyResponses,
  type EndpointFacts,
  emptyPostureData,
  type MissingKind,
  missingPosture,
  type PostureCheck,
  postureResponses,
  recordMfaPass,
} from '../src/policy.ts'

/** A report of an endpoint, or a second factor of its user; `at` is seconds after its log-in. */
export type VectorEvent =
  | { readonly at: number; readonly report: EndpointFacts }
  | { readonly at: number; readonly secondFactor: true }

/** A posture check, the events since the log-in of an endpoint, and whether it passes then; `at` is seconds after the log-in. */
export interface PostureVector {
  readonly name: string
  /** As `POST /posture-checks` takes it, but for its name. */
  readonly check: Readonly<Record<string, unknown>>
  readonly events: readonly VectorEvent[]
  readonly at: number
  readonly passes: boolean
  /** The conditions that the check misses. */
  readonly missing: readonly MissingKind[]
}

type Case = readonly [name: string, check: object, at: number, ...events: readonly VectorEvent[]]

const said = (report: EndpointFacts, at = 0): VectorEvent => ({ at, report })
const factor = (at = 0): VectorEvent => ({ at, secondFactor: true })
const runs = (path: string, more: object = {}) => said({ processes: [{ path, ...more }] })

const os = (...versions: readonly string[]) => ({ typeId: 'OS', operatingSystems: [{ type: 'Linux', versions }] })
const domain = (...domains: readonly string[]) => ({ typeId: 'DOMAIN', domains })
const mac = (...macAddresses: readonly string[]) => ({ typeId: 'MAC', macAddresses })
const agent = (more: object = {}) => ({ osType: 'Linux', path: '/usr/bin/agent', hashes: [], ...more })
const process = (more: object = {}) => ({ typeId: 'PROCESS', process: agent(more) })
const processes = (semantic: string, ...more: readonly object[]) => ({
  typeId: 'PROCESS_MULTI',
  semantic,
  processes: more.map((one) => ({ signerFingerprints: [], ...agent(one) })),
})
const mfa = (more: object = {}) => ({
  ...{ typeId: 'MFA', timeoutSeconds: -1, promptOnWake: false, promptOnUnlock: false, ignoreLegacyEndpoints: false },
  ...more,
})

const linux = (version: string) => said({ os: { type: 'linux', version } })
const AGENT = '/usr/bin/agent'
const OTHER = '/usr/bin/other'
const BOTH = [{}, { path: OTHER }] as const

const CASES: readonly Case[] = [
  ['the operating system was never reported', os(), 0],
  ['no version is asked for', os(), 0, linux('6.1.0')],
  ['no version is asked for, and the reported one cannot be read', os(), 0, linux('unknown')],
  ['a version is asked for, and the reported one cannot be read', os('>=0.0.0'), 0, linux('unknown')],
  ['a version within the range', os('>=6.0.0'), 0, linux('6.1.0')],
  ['the lowest version of the range', os('>=6.0.0'), 0, linux('6.0.0')],
  ['a version below the range', os('>=6.0.0'), 0, linux('5.15.0')],
  ['a version within the second range', os('<5.0.0', '>=6.0.0'), 0, linux('6.1.0')],
  ['a version between two ranges', os('<5.0.0', '>=6.0.0'), 0, linux('5.15.0')],
  ['a version within one of two alternatives', os('<5.0.0 || >=6.0.0'), 0, linux('4.19.0')],
  ['a version that meets one condition of two', os('>=5.0.0 <6.0.0'), 0, linux('6.1.0')],
  ['a pre-release of a version within the range', os('>=5.0.0'), 0, linux('5.15.0-91-generic')],
  ['another operating system', os(), 0, said({ os: { type: 'windows', version: '10.0.0' } })],
  ['the last report of the operating system counts', os('>=6.0.0'), 20, linux('6.1.0'), { ...linux('5.0.0'), at: 10 }],
  ['the domain was never reported', domain('corp.example'), 0],
  ['the domain', domain('corp.example'), 0, said({ domain: 'corp.example' })],
  ['the domain in another case', domain('corp.example'), 0, said({ domain: 'CORP.Example' })],
  ['the domain in another case in the check', domain('Corp.Example'), 0, said({ domain: 'corp.example' })],
  ['the second of two domains', domain('a.example', 'b.example'), 0, said({ domain: 'b.example' })],
  ['a domain below the one that is asked for', domain('corp.example'), 0, said({ domain: 'sub.corp.example' })],
  ['an empty domain', domain('corp.example'), 0, said({ domain: '' })],
  ['addresses were never reported', mac('00155d01bc00'), 0],
  ['the address', mac('00155d01bc00'), 0, said({ macAddresses: ['00155d01bc00'] })],
  ['the address with colons', mac('00155d01bc00'), 0, said({ macAddresses: ['00:15:5d:01:bc:00'] })],
  ['the address with hyphens, in capitals', mac('00155d01bc00'), 0, said({ macAddresses: ['00-15-5D-01-BC-00'] })],
  ['the address with colons in the check', mac('00:15:5D:01:BC:00'), 0, said({ macAddresses: ['00155d01bc00'] })],
  ['one address of several', mac('aa', 'bb'), 0, said({ macAddresses: ['cc', 'bb'] })],
  ['another address', mac('00155d01bc00'), 0, said({ macAddresses: ['00155d01bc01'] })],
  ['no address', mac('00155d01bc00'), 0, said({ macAddresses: [] })],
  ['the process was never reported', process(), 0],
  ['no hash and no signer is asked for', process(), 0, runs(AGENT)],
  ['an empty signer is asked for', process({ signerFingerprint: '' }), 0, runs(AGENT)],
  ['a signer where none is asked for', process(), 0, runs(AGENT, { signerFingerprints: ['aa'] })],
  ['the process does not run', process(), 0, runs(AGENT, { isRunning: false })],
  ['another process runs', process(), 0, runs(OTHER)],
  ['the path in another case', process(), 0, runs('/usr/bin/AGENT')],
  ['the hash', process({ hashes: ['aabb'] }), 0, runs(AGENT, { hash: 'aabb' })],
  ['the hash in another case', process({ hashes: ['AABB'] }), 0, runs(AGENT, { hash: 'aaBb' })],
  ['another hash', process({ hashes: ['aabb'] }), 0, runs(AGENT, { hash: 'aabc' })],
  ['no hash where one is asked for', process({ hashes: ['aabb'] }), 0, runs(AGENT)],
  ['the signer', process({ signerFingerprint: 'ccdd' }), 0, runs(AGENT, { signerFingerprints: ['aa', 'ccdd'] })],
  [
    'the signer with colons, in capitals',
    process({ signerFingerprint: 'CC:DD' }),
    0,
    runs(AGENT, { signerFingerprints: ['ccdd'] }),
  ],
  ['another signer', process({ signerFingerprint: 'ccdd' }), 0, runs(AGENT, { signerFingerprints: ['ccde'] })],
  ['no signer where one is asked for', process({ signerFingerprint: 'ccdd' }), 0, runs(AGENT)],
  ['the hash without the signer', process({ hashes: ['aa'], signerFingerprint: 'cc' }), 0, runs(AGENT, { hash: 'aa' })],
  ['the process ended since', process(), 20, runs(AGENT), { ...runs(AGENT, { isRunning: false }), at: 10 }],
  ['another process is reported later', process(), 20, runs(AGENT), { ...runs(OTHER), at: 10 }],
  ['all of two processes, of which one runs', processes('AllOf', ...BOTH), 0, runs(AGENT)],
  ['all of two processes', processes('AllOf', ...BOTH), 10, runs(AGENT), { ...runs(OTHER), at: 5 }],
  ['any of two processes, of which one runs', processes('AnyOf', ...BOTH), 0, runs(OTHER)],
  ['one of two processes, of which one runs', processes('OneOf', ...BOTH), 0, runs(OTHER)],
  ['one of two processes, of which both run', processes('OneOf', ...BOTH), 0, runs(OTHER), runs(AGENT)],
  ['any of two processes, of which none runs', processes('AnyOf', ...BOTH), 0, runs(OTHER, { isRunning: false })],
  ['any of two processes, none reported', processes('AnyOf', ...BOTH), 0],
  [
    'one of several hashes and signers',
    processes('AllOf', { hashes: ['aa', 'bb'], signerFingerprints: ['cc', 'dd'] }),
    0,
    runs(AGENT, { hash: 'BB', signerFingerprints: ['DD'] }),
  ],
  ['no second factor', mfa(), 0],
  ['a second factor without a time limit', mfa(), 1700, factor()],
  ['a second factor just before its time is over', mfa({ timeoutSeconds: 600 }), 599, factor()],
  ['a second factor when its time is over', mfa({ timeoutSeconds: 600 }), 600, factor()],
  ['a second factor that was shown again', mfa({ timeoutSeconds: 600 }), 1000, factor(), factor(500)],
  [
    'a wake that nobody answered, within five minutes',
    mfa({ promptOnWake: true }),
    399,
    factor(),
    said({ isWoken: true }, 100),
  ],
  [
    'a wake that nobody answered, after five minutes',
    mfa({ promptOnWake: true }),
    400,
    factor(),
    said({ isWoken: true }, 100),
  ],
  ['a wake that was answered', mfa({ promptOnWake: true }), 900, factor(), said({ isWoken: true }, 100), factor(200)],
  [
    'a second wake does not begin the five minutes anew',
    mfa({ promptOnWake: true }),
    400,
    factor(),
    said({ isWoken: true }, 100),
    said({ isWoken: true }, 350),
  ],
  ['a wake that nobody asks for', mfa(), 900, factor(), said({ isWoken: true }, 100)],
  [
    'an unlock that nobody answered, after five minutes',
    mfa({ promptOnUnlock: true }),
    400,
    factor(),
    said({ isUnlocked: true }, 100),
  ],
  ['an unlock where a wake is asked for', mfa({ promptOnWake: true }), 900, factor(), said({ isUnlocked: true }, 100)],
  [
    'the time limit ends before the five minutes',
    mfa({ timeoutSeconds: 200, promptOnWake: true }),
    200,
    factor(),
    said({ isWoken: true }, 100),
  ],
]

/** The posture vectors, with the verdicts of the rules. */
export function postureVectors(): readonly PostureVector[] {
  return CASES.map(([name, fields, at, ...events]) => {
    const check = { id: 'check', name, ...fields } as PostureCheck
    const data = events.reduce((known, event) => {
      const when = event.at * 1000
      if ('secondFactor' in event) return recordMfaPass(known, 'session', when)
      return applyResponses(known, 'session', postureResponses(event.report), when)
    }, emptyPostureData())
    const missing = missingPosture(check, data, 'session', at * 1000).map(({ kind }) => kind)
    return { name, check: { ...fields }, events, at, passes: missing.length === 0, missing }
  })
}

/** The text of `posture-vectors.json`. */
export function vectorsText(): string {
  const lines = postureVectors().map((vector) => `    ${JSON.stringify(vector)}`)
  return `{\n  "version": 1,\n  "cases": [\n${lines.join(',\n')}\n  ]\n}\n`
}

if (import.meta.main) {
  const file = new URL('../posture-vectors.json', import.meta.url)
  const text = vectorsText()
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await writeFile(file, text)
}
