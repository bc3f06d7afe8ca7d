import fc from 'fast-check'
import type { PostureResponse } from 'portcullis'
import {
  applyResponses,
  emptyPostureData,
  type OsType,
  type PostureCheck,
  type PostureData,
  recordMfaPass,
} from 'portcullis/policy'
import { SESSION } from './checks.ts'

/** Every operating system that a check may ask for; the compiler refuses a list that lacks one. */
const OS_TYPES: Readonly<Record<OsType, OsType>> = {
  Windows: 'Windows',
  WindowsServer: 'WindowsServer',
  Android: 'Android',
  iOS: 'iOS',
  Linux: 'Linux',
  macOS: 'macOS',
}

// Few values each, so that reports and checks meet often; arbitrary text beside them.
const text = fc.oneof(fc.constantFrom('', '__proto__', '/a', '/b', 'ab', 'AB:', 'corp', 'Linux', '1.0.0'), fc.string())
const texts = fc.array(text, { maxLength: 3 })
const version = fc.oneof(fc.constantFrom('', '1', '1.2', '1.2.3', '5.15.0-91-generic', 'unknown'), fc.string())
export const range = fc.oneof(fc.constantFrom('*', '>=1', '1.2.x', '!=1.2.x', '^1.2 || 5.x', '~1'), fc.string())
const osType = fc.constantFrom(...Object.values(OS_TYPES))
export const named = { id: text, name: text }
const second = fc.integer({ min: 0, max: 1000 })
export const instantMs = second.map((value) => value * 1000)

const multiProcess = fc.record({ osType, path: text, hashes: texts, signerFingerprints: texts })
export const check: fc.Arbitrary<PostureCheck> = fc.oneof(
  fc.record({
    ...named,
    typeId: fc.constant('OS' as const),
    operatingSystems: fc.array(fc.record({ type: osType, versions: fc.array(range, { maxLength: 2 }) })),
  }),
  fc.record({ ...named, typeId: fc.constant('DOMAIN' as const), domains: texts }),
  fc.record({ ...named, typeId: fc.constant('MAC' as const), macAddresses: texts }),
  fc.record({
    ...named,
    typeId: fc.constant('PROCESS' as const),
    process: fc.record({ osType, path: text, hashes: texts, signerFingerprint: text }),
  }),
  fc.record({
    ...named,
    typeId: fc.constant('PROCESS_MULTI' as const),
    semantic: fc.constantFrom('AllOf' as const, 'OneOf' as const, 'AnyOf' as const),
    processes: fc.array(multiProcess, { maxLength: 3 }),
  }),
  fc.record({
    ...named,
    typeId: fc.constant('MFA' as const),
    timeoutSeconds: fc.integer({ min: -1, max: 1000 }),
    promptOnWake: fc.boolean(),
    promptOnUnlock: fc.boolean(),
    ignoreLegacyEndpoints: fc.boolean(),
  }),
)

const response: fc.Arbitrary<PostureResponse> = fc.oneof(
  fc.record({ id: text, typeId: fc.constant('OS' as const), type: fc.oneof(osType, text), version, build: text }),
  fc.record({ id: text, typeId: fc.constant('DOMAIN' as const), domain: text }),
  fc.record({ id: text, typeId: fc.constant('MAC' as const), macAddresses: texts }),
  fc.record({
    id: text,
    typeId: fc.constant('PROCESS' as const),
    path: text,
    isRunning: fc.boolean(),
    hash: text,
    signerFingerprints: texts,
  }),
  fc.record({
    id: text,
    typeId: fc.constant('ENDPOINT_STATE' as const),
    unlocked: fc.boolean(),
    woken: fc.boolean(),
  }),
)

export const data: fc.Arbitrary<PostureData> = fc
  .record({ responses: fc.array(response), reportedAt: instantMs, passedAt: fc.option(instantMs) })
  .map(({ responses, reportedAt, passedAt }) => {
    const reported = applyResponses(emptyPostureData(), SESSION, responses, reportedAt)
    return passedAt === null ? reported : recordMfaPass(reported, SESSION, passedAt)
  })
