import { z } from 'zod'
import { OS_TYPES } from '../domain/posture/index.ts'
import { defineResource } from './define-resource.ts'
import { Name, RoleAttributes, TextSet } from './fields.ts'
import { postureCheckSpellings } from './posture-check-spellings.ts'
import type { Resource, ResourceDefinition } from './resource.ts'
import { described } from './words.ts'

const OsType = z.enum(OS_TYPES)
const Path = z.string().min(1).max(4096)

const definition = {
  name: 'posture-checks',
  singular: 'posture check',
  storeName: 'postureChecks',
  permission: 'posture-check',
  writable: {
    name: Name,
    roleAttributes: RoleAttributes.default([]),
    domains: TextSet.min(1).nullable().default(null),
    macAddresses: TextSet.min(1).nullable().default(null),
    operatingSystems: z
      .array(
        described(z.object({ type: OsType, versions: z.array(z.string().max(1024)).max(1000).default([]) }), {
          type: 'The operating system; taken in any case and with spaces.',
          versions:
            'The SemVer ranges of which its version must be in one, as `>=10.0.19041 <11.0.0`; a space means and, `||` means or. Empty for any version.',
        }),
      )
      .min(1)
      .nullable()
      .default(null),
    process: described(
      z.object({
        osType: OsType,
        path: Path,
        hashes: TextSet.default([]),
        signerFingerprint: z.string().max(1024).default(''),
      }),
      {
        osType: 'The operating system on which the process must run; `os` is taken as well.',
        path: 'The path of its binary, compared exactly.',
        hashes: 'The SHA-256 or SHA-512 hashes, hex, of which its binary must have one; empty for any.',
        signerFingerprint:
          'The SHA-1 fingerprint, hex, of the certificate that must have signed its binary; empty for any.',
      },
    )
      .nullable()
      .default(null),
    processes: z
      .array(
        described(
          z.object({
            osType: OsType,
            path: Path,
            hashes: TextSet.default([]),
            signerFingerprints: TextSet.default([]),
          }),
          {
            osType: 'The operating system on which the process must run; `os` is taken as well.',
            path: 'The path of its binary, compared exactly.',
            hashes: 'The SHA-256 or SHA-512 hashes, hex, of which its binary must have one; empty for any.',
            signerFingerprints:
              'The SHA-1 fingerprints, hex, of certificates of which one must have signed its binary; empty for any.',
          },
        ),
      )
      .min(1)
      .nullable()
      .default(null),
    semantic: z.enum(['AllOf', 'OneOf', 'AnyOf']).nullable().default(null),
    ignoreLegacyEndpoints: z.boolean().default(false),
    promptOnUnlock: z.boolean().default(false),
    promptOnWake: z.boolean().default(false),
    timeoutSeconds: z.int().default(-1),
  },
  createOnly: {
    typeId: z.enum(['OS', 'PROCESS', 'PROCESS_MULTI', 'DOMAIN', 'MAC', 'MFA']),
  },
  derived: { version: z.int() },
  mayBeAbsent: [
    'domains',
    'macAddresses',
    'operatingSystems',
    'process',
    'processes',
    'semantic',
    'ignoreLegacyEndpoints',
    'promptOnUnlock',
    'promptOnWake',
    'timeoutSeconds',
  ],
  required: ['name', 'typeId'],
  requiredOnReplace: ['name'],
  requiredOnPatch: ['typeId'],
  unique: ['name'],
  symbols: {
    domains: null,
    macAddresses: null,
    semantic: null,
    ignoreLegacyEndpoints: null,
    timeoutSeconds: null,
  },
  spellings: postureCheckSpellings,
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A rule on the state of an endpoint; service policies select checks by their role attributes (interface: Posture check). */
export interface PostureChecks extends Resource<typeof definition> {}
export const postureChecks: PostureChecks = defineResource(definition, {
  domains: 'For `DOMAIN`: the Windows domains of which an endpoint must be in one; absent for other types.',
  macAddresses:
    'For `MAC`: the addresses of which an endpoint must have one, kept as lower-case hex digits; absent for other types.',
  operatingSystems: 'For `OS`: the operating systems of which an endpoint must run one; absent for other types.',
  process: 'For `PROCESS`: the process that must run on the endpoint; absent for other types.',
  processes: 'For `PROCESS_MULTI`: the processes of which all or one must run on the endpoint; absent for other types.',
  semantic:
    'For `PROCESS_MULTI`: `AllOf` when all processes must run, `AnyOf` or `OneOf` when one must; absent for other types.',
  ignoreLegacyEndpoints: 'For `MFA`: whether clients that know no timeouts are told of none; false by default.',
  promptOnUnlock:
    'For `MFA`: whether a new code is needed within five minutes of the endpoint being unlocked; false by default.',
  promptOnWake: 'For `MFA`: whether a new code is needed within five minutes of the endpoint waking; false by default.',
  timeoutSeconds: 'For `MFA`: the seconds for which a code is good; 0 and -1 (the default) mean for ever.',
  typeId: 'What the check looks at. Settled at creation.',
  version: 'Always 1.',
})
