const SHA1 = 'ab'.repeat(20)
export const SHA256 = '0f'.repeat(32)

/** A check of each type, and how it is shown. */
export const CHECKS: readonly [string, object, object][] = [
  [
    'OS',
    {
      operatingSystems: [
        { type: 'Windows', versions: ['>=10.0.19041 <11.0.0 || 12.x', '~6.1'] },
        { type: 'Linux', versions: [] },
      ],
    },
    {
      operatingSystems: [
        { type: 'Linux', versions: [] },
        { type: 'Windows', versions: ['>=10.0.19041 <11.0.0 || 12.x', '~6.1'] },
      ],
    },
  ],
  ['DOMAIN', { domains: ['corp.example', 'CORP'] }, { domains: ['CORP', 'corp.example'] }],
  [
    'MAC',
    { macAddresses: ['14-B2-2C-E5-F0-61', 'aa:bb:cc:dd:ee:ff'] },
    { macAddresses: ['14b22ce5f061', 'aabbccddeeff'] },
  ],
  [
    'PROCESS',
    {
      process: {
        osType: 'Windows',
        path: 'C:\\av.exe',
        hashes: [SHA256.toUpperCase()],
        signerFingerprint: 'AB:'.repeat(20),
      },
    },
    { process: { osType: 'Windows', path: 'C:\\av.exe', hashes: [SHA256], signerFingerprint: SHA1 } },
  ],
  [
    'PROCESS_MULTI',
    {
      semantic: 'AnyOf',
      processes: [
        { osType: 'macOS', path: '/b', hashes: [SHA256], signerFingerprints: [SHA1.toUpperCase()] },
        { osType: 'Linux', path: '/a' },
      ],
    },
    {
      semantic: 'AnyOf',
      processes: [
        { osType: 'Linux', path: '/a', hashes: [], signerFingerprints: [] },
        { osType: 'macOS', path: '/b', hashes: [SHA256], signerFingerprints: [SHA1] },
      ],
    },
  ],
  [
    'MFA',
    { timeoutSeconds: 3600, promptOnWake: true, promptOnUnlock: true, ignoreLegacyEndpoints: true },
    { timeoutSeconds: 3600, promptOnWake: true, promptOnUnlock: true, ignoreLegacyEndpoints: true },
  ],
]
