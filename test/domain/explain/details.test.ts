import { explanationText } from 'portcullis'
import {
  emptyPostureData,
  type MissingPosture,
  type PostureCheck,
  type PostureData,
  type Semantic,
} from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
import { CORP, explained, MISSING_KINDS, NOW, policy } from './facts.ts'

describe('the role entries of a policy', () => {
  it.each<[string, Semantic, string[], boolean, string[], string[]]>([
    ['#all selects everybody', 'AllOf', ['#all'], true, ['#all'], []],
    ['an id selects, shown by name', 'AllOf', ['@i1', '#gone'], true, ['@alice'], []],
    ['any attribute is enough', 'AnyOf', ['#gone', '#users'], true, ['#users'], []],
    ['all attributes are needed', 'AllOf', ['#gone', '#users'], false, ['#users'], ['gone']],
    ['no attribute matches', 'AnyOf', ['#gone', '#lost'], false, [], ['gone', 'lost']],
    ['the id of somebody else', 'AnyOf', ['@i2'], false, [], []],
    ['an empty list selects nobody', 'AllOf', [], false, [], []],
  ])('%s', (_what, semantic, identityRoles, selects, matched, lacking) => {
    const { policies } = explained({ policies: [policy({ semantic, identityRoles })] })
    const side = policies[0]?.identitySide
    expect(side?.selects).toBe(selects)
    expect(side?.matched.map(({ name }) => name)).toEqual(matched)
    expect(side?.lacking).toEqual(lacking)
  })

  it('a policy that selects neither side is left out', () => {
    expect(explained({ policies: [policy({ identityRoles: [], serviceRoles: [] })] }).policies).toEqual([])
  })

  it('those that decide come first', () => {
    const bind = policy({ id: 'bind', type: 'Bind' })
    const half = policy({ id: 'half', serviceRoles: [] })
    const { policies } = explained({ policies: [half, bind, policy()] })
    expect(policies.map(({ id }) => id)).toEqual(['p1', 'bind', 'half'])
  })
})

const session = { apiSessionId: 'a1', unlockedAt: null, wokenAt: null, firstUnlockedAt: null, sdkInfo: null }
const mfa = (passedAt: number, firstWokenAt: number | null = null): Partial<PostureData> => ({
  sessions: [{ ...session, mfa: { passedAt }, firstWokenAt }],
})
const process = (change: object): Partial<PostureData> => {
  const report = { postureCheckId: 'c', lastUpdatedAt: NOW, path: '/a', isRunning: true, hash: 'aa' }
  const whole = { ...report, signerFingerprints: ['bb'], ...change }
  return { processes: [whole], processesByPath: [whole] }
}
const MFA: PostureCheck = {
  id: 'c',
  name: 'mfa',
  typeId: 'MFA',
  timeoutSeconds: 60,
  promptOnWake: true,
  promptOnUnlock: false,
  ignoreLegacyEndpoints: false,
}
const PROCESS: PostureCheck = {
  id: 'c',
  name: 'agent',
  typeId: 'PROCESS',
  process: { osType: 'Linux', path: '/a', hashes: ['aa'], signerFingerprint: 'bb' },
}
const MULTI: PostureCheck = {
  id: 'm',
  name: 'agents',
  typeId: 'PROCESS_MULTI',
  semantic: 'AllOf',
  processes: ['/a', '/b'].map((path) => ({ osType: 'Linux', path, hashes: ['aa'], signerFingerprints: [] })),
}
const LINUX: PostureCheck = {
  id: 'c',
  name: 'linux',
  typeId: 'OS',
  operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }],
}
const MAC: PostureCheck = { id: 'c', name: 'mac', typeId: 'MAC', macAddresses: ['14b22c'] }
const report = { postureCheckId: 'c', lastUpdatedAt: NOW }

const MISSING_ROWS: readonly [string, PostureCheck, Partial<PostureData>, readonly MissingPosture[], string][] = [
  ['no domain', CORP, {}, [{ kind: 'not-reported' }], "asks for 'corp.example', but nothing was reported."],
  [
    'another domain',
    CORP,
    { domain: { ...report, domain: 'home' } },
    [{ kind: 'value-not-admitted' }],
    "but 'home' was reported.",
  ],
  ['no system', LINUX, {}, [{ kind: 'not-reported' }], 'asks for Linux >=6.0.0, but nothing was reported.'],
  [
    'an old system',
    LINUX,
    { os: { ...report, type: 'linux', version: '5.4.0', build: '' } },
    [{ kind: 'value-not-admitted' }],
    "but 'linux 5.4.0' was reported.",
  ],
  [
    'another address',
    MAC,
    { mac: { ...report, addresses: ['00ff00'] } },
    [{ kind: 'value-not-admitted' }],
    "but '00ff00' was reported.",
  ],
  ['no process', PROCESS, {}, [{ kind: 'not-reported', path: '/a' }], "the process '/a' was not reported."],
  [
    'a process that stopped',
    PROCESS,
    process({ isRunning: false }),
    [{ kind: 'process-not-running', path: '/a' }],
    "the process '/a' does not run.",
  ],
  [
    'another binary',
    PROCESS,
    process({ hash: 'cc' }),
    [{ kind: 'process-hash-not-admitted', path: '/a' }],
    "the process '/a' has another hash.",
  ],
  [
    'another signer',
    PROCESS,
    process({ signerFingerprints: [] }),
    [{ kind: 'process-signer-not-admitted', path: '/a' }],
    "the process '/a' has another signer.",
  ],
  [
    'one of two processes',
    MULTI,
    process({}),
    [{ kind: 'not-reported', path: '/b' }],
    "the process '/b' was not reported.",
  ],
  ['no MFA', MFA, {}, [{ kind: 'mfa-not-passed' }], 'no second factor was proved in the API session.'],
  ['MFA too long ago', MFA, mfa(NOW - 60_000), [{ kind: 'mfa-timed-out' }], 'the second factor timed out.'],
  [
    'woken, grace over',
    MFA,
    mfa(NOW - 1000, NOW - 300_000),
    [{ kind: 'mfa-prompt-unanswered' }],
    'no second factor was proved after the endpoint was unlocked or woken.',
  ],
]

describe('a failing posture check', () => {
  it.each(MISSING_ROWS)('%s', (_what, check, posture, missing, says) => {
    const explanation = explained({
      policies: [policy({ checks: [check] })],
      posture: { ...emptyPostureData(), ...posture },
    })
    expect(explanation.policies[0]?.checks[0]).toMatchObject({ isPassing: false, missing })
    expect(explanation.reason).toBe('posture-failing')
    expect(explanationText(explanation)).toContain(says)
  })

  it('every kind of missing posture has a row', () => {
    const kinds = new Set(MISSING_ROWS.flatMap(([, , , missing]) => missing.map(({ kind }) => kind)))
    expect([...kinds].sort()).toEqual([...MISSING_KINDS].sort())
  })
})

describe('until when it holds', () => {
  const posture = { ...emptyPostureData(), ...mfa(NOW - 10_000) }
  it.each([
    ['a check with a timeout ends it', [policy({ checks: [MFA] })], NOW + 50_000],
    ['a policy without checks never ends', [policy({ checks: [MFA] }), policy({ id: 'p2' })], null],
    ['nothing to end without a grant', [policy({ checks: [MFA, CORP] })], null],
  ])('%s', (_what, policies, holdsUntil) => {
    expect(explained({ policies, posture }).holdsUntil).toBe(holdsUntil)
  })
})

it('reads as sentences', () => {
  const nearMiss = policy({ id: 'p2', name: 'staff', identityRoles: ['#staff', '#berlin'], semantic: 'AllOf' })
  expect(explanationText(explained({ policies: [nearMiss] }))).toBe(
    [
      "'alice' may not dial 'web': no service policy selects both.",
      "No service policy selects 'alice'.",
      "1 service policy selects 'web' alone: 'staff'.",
      "'alice' may use 2 edge routers, 'web' is reached through 2 edge routers.",
      "They have 1 edge router in common ('router r1' online), 1 online.",
      "Give 'alice' the role attributes staff and berlin: the policy 'staff' would then select both.",
      "Create a Dial service policy that selects 'alice' and 'web'.",
    ].join('\n'),
  )
})

it('a name cannot fake a line of its own', () => {
  const identity = { id: 'i1', name: "x\n'x' may dial everything", roleAttributes: [], isDisabled: false }
  expect(explanationText(explained({ identity, policies: [] }))).not.toContain("\n'x' may dial everything")
})
