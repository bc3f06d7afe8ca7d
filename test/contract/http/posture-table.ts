/** A posture check of one type, with what an endpoint may report about it. */
export interface PostureCase {
  readonly name: string
  readonly check: Readonly<Record<string, unknown>>
  /** Reports that fail the check, each by itself. */
  readonly failing: readonly Report[]
  /** Reports that pass it, together. */
  readonly passing: readonly Report[]
  /** The facts that the client is asked for beside the type. */
  readonly asks: Readonly<Record<string, unknown>>
}

/** A posture response without the id of the check that it answers. */
export type Report = Readonly<Record<string, unknown>> & { readonly typeId: string }

const SHA512 = '0a'.repeat(64)
const SIGNER = 'ab'.repeat(20)
const NONE = { processes: [] }

/** The types that an endpoint can pass by reporting. */
export const POSTURE_CASES: readonly PostureCase[] = [
  {
    name: 'OS',
    check: {
      typeId: 'OS',
      operatingSystems: [
        { type: 'Windows', versions: ['>=10.0.19041 <11.0.0', '12.x'] },
        { type: 'macOS', versions: [] },
      ],
    },
    failing: [
      { typeId: 'OS', type: 'Linux', version: '10.0.20000' },
      { typeId: 'OS', type: 'Windows', version: '10.0.19040' },
      { typeId: 'OS', type: 'Windows', version: '11.0.0' },
      { typeId: 'OS', type: 'windows', version: 'unknown' },
    ],
    passing: [{ typeId: 'OS', type: 'windows', version: '10.0.19045', build: '19045' }],
    asks: NONE,
  },
  {
    name: 'OS of any version',
    check: { typeId: 'OS', operatingSystems: [{ type: 'macOS', versions: [] }] },
    failing: [{ typeId: 'OS', type: 'Linux', version: '1.0.0' }],
    passing: [{ typeId: 'OS', type: 'Darwin', version: 'whatever' }],
    asks: NONE,
  },
  {
    name: 'OS of a version that is too short',
    check: { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=6.1.0'] }] },
    failing: [{ typeId: 'OS', type: 'Linux', version: '6' }],
    passing: [{ typeId: 'postureResponseOperatingSystemCreate', type: 'Linux', version: '6.1' }],
    asks: NONE,
  },
  {
    name: 'DOMAIN',
    check: { typeId: 'DOMAIN', domains: ['corp.example.org', 'lab'] },
    failing: [
      { typeId: 'DOMAIN', domain: 'example.org' },
      { typeId: 'DOMAIN', domain: '' },
      { typeId: 'DOMAIN', domain: ' lab' },
    ],
    passing: [{ typeId: 'DOMAIN', domain: 'CORP.Example.org' }],
    asks: NONE,
  },
  {
    name: 'DOMAIN by its other name',
    check: { typeId: 'postureCheckDomainCreate', domains: ['lab'] },
    failing: [{ typeId: 'postureResponseDomainCreate', domain: 'home' }],
    passing: [{ typeId: 'postureResponseDomainCreate', domain: 'LAB' }],
    asks: NONE,
  },
  {
    name: 'MAC',
    check: { typeId: 'MAC', macAddresses: ['14-B2-2C-E5-F0-61'] },
    failing: [
      { typeId: 'MAC', macAddresses: ['14:b2:2c:e5:f0:62'] },
      { typeId: 'MAC', macAddresses: [] },
    ],
    passing: [{ typeId: 'MAC', macAddresses: ['00:00:00:00:00:00', '14:b2:2c:e5:f0:61'] }],
    asks: NONE,
  },
  {
    name: 'PROCESS',
    check: {
      typeId: 'PROCESS',
      process: { osType: 'Windows', path: 'C:\\av.exe', hashes: [SHA512], signerFingerprint: SIGNER },
    },
    failing: [
      { typeId: 'PROCESS', path: 'C:\\av.exe', isRunning: false, hash: SHA512, signerFingerprints: [SIGNER] },
      { typeId: 'PROCESS', path: 'C:\\av.exe', isRunning: true, hash: '00', signerFingerprints: [SIGNER] },
      { typeId: 'PROCESS', path: 'C:\\av.exe', isRunning: true, hash: SHA512, signerFingerprints: [] },
      { typeId: 'PROCESS', path: 'C:\\av.exe', isRunning: true, hash: SHA512 },
      { typeId: 'PROCESS', path: 'C:\\av.exe' },
    ],
    passing: [
      {
        typeId: 'PROCESS',
        path: 'C:\\av.exe',
        isRunning: true,
        hash: SHA512.toUpperCase(),
        signerFingerprints: ['AB:'.repeat(20)],
      },
    ],
    asks: { process: { osType: 'Windows', path: 'C:\\av.exe' }, processes: [] },
  },
  {
    name: 'PROCESS_MULTI, all',
    check: {
      typeId: 'PROCESS_MULTI',
      semantic: 'AllOf',
      processes: [
        { osType: 'Linux', path: '/a' },
        { osType: 'Linux', path: '/b', hashes: [SHA512] },
      ],
    },
    failing: [
      { typeId: 'PROCESS', path: '/a', isRunning: true },
      { typeId: 'PROCESS', path: '/b', isRunning: true, hash: '00' },
    ],
    passing: [
      { typeId: 'PROCESS', path: '/a', isRunning: true },
      { typeId: 'PROCESS', path: '/b', isRunning: true, hash: SHA512 },
    ],
    asks: {
      processes: [
        { osType: 'Linux', path: '/a' },
        { osType: 'Linux', path: '/b' },
      ],
    },
  },
  ...['OneOf', 'AnyOf'].map((semantic) => ({
    name: `PROCESS_MULTI, ${semantic}`,
    check: {
      typeId: 'PROCESS_MULTI',
      semantic,
      processes: [
        { osType: 'Linux', path: '/a' },
        { osType: 'Linux', path: '/b' },
      ],
    },
    failing: [
      { typeId: 'PROCESS', path: '/a', isRunning: false },
      { typeId: 'PROCESS', path: '/A', isRunning: true },
    ],
    passing: [{ typeId: 'PROCESS', path: '/b', isRunning: true }],
    asks: {
      processes: [
        { osType: 'Linux', path: '/a' },
        { osType: 'Linux', path: '/b' },
      ],
    },
  })),
]
