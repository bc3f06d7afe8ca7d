import { z } from 'zod'
import { JsonObject, Text, TextSet } from '../../../kernel/declaration/fields.ts'
import type { Shape } from '../../../kernel/declaration/resource.ts'
import { described } from '../../../kernel/declaration/words.ts'
import { OS_TYPES, type PostureCheck, type PostureCheckTypeId } from './rules/index.ts'

type MemberOf<T extends PostureCheckTypeId> = Exclude<
  keyof Extract<PostureCheck, { readonly typeId: T }>,
  'id' | 'name' | 'typeId'
>

/** The wire form of a type of posture check: every member with its schema and description. */
interface PostureCheckFields<T extends PostureCheckTypeId> {
  /** The members of a check; each has a default, which checks of other types hold. */
  readonly members: Readonly<Record<MemberOf<T>, z.ZodType>>
  readonly memberWords: Readonly<Record<MemberOf<T>, string>>
  /** Members that filters may name; none when absent. */
  readonly filtered?: readonly MemberOf<T>[]
  /** The response of an endpoint; absent if endpoints answer by the response of another type. */
  readonly response?: z.ZodObject<{ readonly typeId: z.ZodLiteral<string> }>
  /** The members of the posture data of an identity. */
  readonly reports: Shape
  readonly reportWords: Readonly<Record<string, string>>
}

const OsType = z.enum(OS_TYPES)
const PROCESS_SHAPE = { osType: OsType, path: z.string().min(1).max(4096), hashes: TextSet.default([]) }
const PROCESS_WORDS = {
  osType: 'The operating system on which the process must run; `os` is taken as well.',
  path: 'The path of its binary, compared exactly.',
  hashes: 'The SHA-256 or SHA-512 hashes, hex; its binary must have one of them; empty for any.',
}

const ID = z.string().max(256)
const RESPONSE_WORDS = {
  id: 'The id of the posture check that asked; kept with the report and not looked up.',
  typeId: 'The kind of report; `postureResponse…Create` is taken as well, as `postureResponseDomainCreate`.',
}

const REPORT = { lastUpdatedAt: z.iso.datetime().nullable(), postureCheckId: z.string(), timedOut: z.boolean() }
const REPORT_WORDS = {
  lastUpdatedAt: 'When it was reported, RFC 3339; null when it never was.',
  postureCheckId: 'The id of the posture check that the report answered; empty without a report.',
  timedOut: 'Always false: these reports do not run out.',
}

const FIELDS = {
  OS: {
    members: {
      operatingSystems: z
        .array(
          described(z.object({ type: OsType, versions: z.array(z.string().max(1024)).max(1000).default([]) }), {
            type: 'The operating system; taken in any case and with spaces.',
            versions:
              'The SemVer ranges; its version must be in one of them, as `>=10.0.19041 <11.0.0`; a space means and, `||` means or. Empty for any version.',
          }),
        )
        .min(1)
        .nullable()
        .default(null),
    },
    memberWords: {
      operatingSystems: 'For `OS`: the operating systems; an endpoint must run one of them; absent for other types.',
    },
    response: described(
      z.object({ id: ID, typeId: z.literal('OS'), type: Text, version: Text, build: Text.optional() }),
      {
        ...RESPONSE_WORDS,
        type: 'The operating system.',
        version: 'Its version; parts that are left out count as 0.',
        build: 'Its build.',
      },
      'A report of the operating system.',
    ),
    reports: {
      os: described(
        z.object({
          ...REPORT,
          build: z.string().nullable(),
          type: z.string().nullable(),
          version: z.string().nullable(),
        }),
        {
          ...REPORT_WORDS,
          build: 'The build of the operating system; null without a report.',
          type: 'The operating system; null without a report.',
          version: 'Its version; null without a report.',
        },
      ),
    },
    reportWords: { os: 'The operating system.' },
  },
  PROCESS: {
    members: {
      process: described(z.object({ ...PROCESS_SHAPE, signerFingerprint: z.string().max(1024).default('') }), {
        ...PROCESS_WORDS,
        signerFingerprint:
          'The SHA-1 fingerprint, hex, of the certificate that must have signed its binary; empty for any.',
      })
        .nullable()
        .default(null),
    },
    memberWords: { process: 'For `PROCESS`: the process that must run on the endpoint; absent for other types.' },
    response: described(
      z.object({
        id: ID,
        typeId: z.literal('PROCESS'),
        path: Text.optional(),
        isRunning: z.boolean().optional(),
        hash: Text.optional(),
        signerFingerprints: TextSet.nullish().transform((fingerprints) => fingerprints ?? undefined),
      }),
      {
        ...RESPONSE_WORDS,
        path: 'The path of the binary.',
        isRunning: 'Whether it runs; false by default.',
        hash: 'The SHA-256 or SHA-512 hash of the binary, hex.',
        signerFingerprints: 'SHA-1 fingerprints, hex, of the certificates that signed the binary.',
      },
      'A report of one process, for both kinds of process check.',
    ),
    reports: {
      processes: z.array(
        described(
          z.object({
            ...REPORT,
            binaryHash: z.string(),
            isRunning: z.boolean(),
            signerFingerprints: z.array(z.string()),
          }),
          {
            ...REPORT_WORDS,
            binaryHash: 'The hash of the binary, hex; empty when none was reported.',
            isRunning: 'Whether the process runs.',
            signerFingerprints: 'SHA-1 fingerprints, hex, of the certificates that signed the binary.',
          },
        ),
      ),
    },
    reportWords: { processes: 'The processes.' },
  },
  PROCESS_MULTI: {
    members: {
      processes: z
        .array(
          described(z.object({ ...PROCESS_SHAPE, signerFingerprints: TextSet.default([]) }), {
            ...PROCESS_WORDS,
            signerFingerprints:
              'The SHA-1 fingerprints, hex, of certificates; one of them must have signed its binary; empty for any.',
          }),
        )
        .min(1)
        .nullable()
        .default(null),
      semantic: z.enum(['AllOf', 'OneOf', 'AnyOf']).nullable().default(null),
    },
    memberWords: {
      processes:
        'For `PROCESS_MULTI`: the processes; all of them or one of them must run on the endpoint; absent for other types.',
      semantic:
        'For `PROCESS_MULTI`: `AllOf` when all processes must run, `AnyOf` or `OneOf` when one must; absent for other types.',
    },
    reports: {},
    reportWords: {},
  },
  DOMAIN: {
    members: { domains: TextSet.min(1).nullable().default(null) },
    memberWords: {
      domains: 'For `DOMAIN`: the Windows domains; an endpoint must be in one of them; absent for other types.',
    },
    response: described(
      z.object({ id: ID, typeId: z.literal('DOMAIN'), domain: Text }),
      { ...RESPONSE_WORDS, domain: 'The Windows domain that the endpoint belongs to.' },
      'A report of the Windows domain.',
    ),
    reports: {
      domain: described(z.object({ ...REPORT, domain: z.string().nullable() }), {
        ...REPORT_WORDS,
        domain: 'The Windows domain; null without a report.',
      }),
    },
    reportWords: { domain: 'The Windows domain.' },
  },
  MAC: {
    members: { macAddresses: TextSet.min(1).nullable().default(null) },
    memberWords: {
      macAddresses:
        'For `MAC`: the addresses, kept as lower-case hex digits; an endpoint must have one of them; absent for other types.',
    },
    response: described(
      z.object({ id: ID, typeId: z.literal('MAC'), macAddresses: TextSet }),
      { ...RESPONSE_WORDS, macAddresses: 'The addresses of the endpoint; case and separators do not matter.' },
      'A report of the MAC addresses.',
    ),
    reports: {
      mac: described(z.object({ ...REPORT, addresses: z.array(z.string()).nullable() }), {
        ...REPORT_WORDS,
        addresses: 'The MAC addresses as lower-case hex digits; null without a report.',
      }),
    },
    reportWords: { mac: 'The MAC addresses.' },
  },
  MFA: {
    members: {
      ignoreLegacyEndpoints: z.boolean().default(false),
      promptOnUnlock: z.boolean().default(false),
      promptOnWake: z.boolean().default(false),
      timeoutSeconds: z.int().default(-1),
    },
    memberWords: {
      ignoreLegacyEndpoints: 'For `MFA`: whether clients that know no timeouts are told of none; false by default.',
      promptOnUnlock:
        'For `MFA`: whether a new code is needed within five minutes of the endpoint being unlocked; false by default.',
      promptOnWake:
        'For `MFA`: whether a new code is needed within five minutes of the endpoint waking; false by default.',
      timeoutSeconds: 'For `MFA`: the seconds for which a code is good; 0 and -1 (the default) mean for ever.',
    },
    filtered: ['promptOnUnlock', 'promptOnWake'],
    response: described(
      z.object({
        id: ID,
        typeId: z.literal('ENDPOINT_STATE'),
        unlocked: z.boolean().optional(),
        woken: z.boolean().optional(),
      }),
      {
        ...RESPONSE_WORDS,
        unlocked: 'True when the endpoint was unlocked just now; false by default.',
        woken: 'True when the endpoint woke just now; false by default.',
      },
      'A report that the endpoint was unlocked or woken.',
    ),
    reports: { apiSessionPostureData: z.record(z.string(), JsonObject) },
    reportWords: {
      apiSessionPostureData:
        'By the id of an API session: its second factor (`mfa`), unlocks and wakes (`endpointState`) and its SDK (`sdkInfo`).',
    },
  },
} as const satisfies { readonly [T in PostureCheckTypeId]?: PostureCheckFields<T> }

/** The wire form of every type of posture check. A missing type is a compiler error here. */
export const POSTURE_CHECK_FIELDS: {
  readonly [T in PostureCheckTypeId]: T extends keyof typeof FIELDS ? (typeof FIELDS)[T] : never
} = FIELDS
