import { compareStrings } from '../../../../kernel/filter/matches.ts'
import { normaliseHex, type OsType } from './posture-data.ts'

/** The TypeScript types that belong to one type of posture check. */
export interface PostureTypes {
  readonly check: PostureCheckBase
  /** The part of the posture data that such a check reads. */
  readonly reports: object
  /** The response that endpoints submit for it; `never` if they answer it by the response of another type. */
  readonly response: { readonly id: string; readonly typeId: string }
  /** The values of the record of a failed service request for such a check. */
  readonly failure: { readonly actualValue: unknown; readonly expectedValue: unknown }
  /** The reports in the management API; empty if another type shows them. */
  readonly view: object
}

/** The members of every posture check. */
export interface PostureCheckBase {
  readonly id: string
  readonly name: string
  readonly typeId: string
}

/**
 * A type of posture check: the members of its checks, the reports of endpoints, the conditions to pass, the reasons of failures, and the
 * queries to clients. No other code distinguishes types.
 *
 * Its functions get the posture data of one identity, the id of an API session (which may be unknown) and an instant (epoch ms).
 */
export interface PostureCheckKind<T extends PostureTypes> {
  /** The word for the type in the alternative documented names: `Domain` in `postureCheckDomainCreate`. */
  readonly schemaName: string
  /** Its entry in the list of posture check types; absent for an unlisted type, whose checks work all the same. */
  readonly listed?: ListedPostureCheckType
  /** The members of a check in addition to its name. */
  readonly members: PostureCheckMembers<T['check']>
  /** The part of the posture data of an identity whose endpoints reported nothing yet. */
  readonly nothingReported: Partial<T['reports']>
  /** The response that endpoints submit; absent if they answer it by the response of another type. */
  readonly response?: PostureResponseKind<T>
  /** The party that can make a failing check pass: the endpoint by a change of its state, or its user by a second factor. */
  readonly fulfilledBy: 'endpoint' | 'user'
  /** Reports whether a check passes. It fails without reports. */
  passes(check: T['check'], data: T['reports'], apiSessionId: string, now: number): boolean
  /** Answers the actual and the expected value. Values that were never reported are empty. */
  failure(check: T['check'], data: T['reports'], apiSessionId: string, now: number): T['failure']
  /** True when the endpoint has reported values for the check. */
  isKnown(check: T['check'], data: T['reports'], apiSessionId: string): boolean
  /** Lists the conditions that the check misses; called only for a failing check. */
  missing(check: T['check'], data: T['reports'], apiSessionId: string, now: number): readonly MissingPosture[]
  /** The values that would pass, in words; may be empty. */
  expectedWords(expected: T['failure']['expectedValue']): readonly string[]
  /** The actual value in words; absent for a type without `value-not-admitted`. */
  actualWords?(actual: T['failure']['actualValue']): string
  /** Makes the members of a client's query in addition to the type; none when absent. */
  query?(check: T['check'], data: T['reports'], apiSessionId: string, now: number): Partial<QueryMembers>
  /** The instant at which a report changed the query (epoch ms); `undefined` without such a report. */
  queryChangedAt?(check: T['check'], data: T['reports'], apiSessionId: string): number | undefined
  /** The instants (epoch ms), past or future, at which a passing check ends by itself; none when absent. */
  deadlines?(check: T['check'], data: T['reports'], apiSessionId: string): readonly number[]
  /** The grace period that responses of the type began for the check, after they were applied; none when absent. */
  grace?(
    check: T['check'],
    data: T['reports'],
    responses: readonly T['response'][],
    apiSessionId: string,
    now: number,
  ): GracePeriod | undefined
  /** The reports in their form for the management API. */
  view(data: T['reports']): T['view']
}

/** The entry of a type in the list of posture check types. */
export interface ListedPostureCheckType {
  readonly name: string
  readonly operatingSystems: readonly { readonly type: string; readonly versions: readonly string[] }[]
}

/** The members of a check that belong to its type. */
export type PostureCheckMembers<Check> = {
  readonly [M in Exclude<keyof Check, keyof PostureCheckBase>]: PostureCheckMember<Check[M]>
}

/** One member of a check. */
export interface PostureCheckMember<Value = unknown> {
  /** The value for a record without this member, which writes prevent; no endpoint passes by it. */
  readonly absent: Value
  /** Corrects alternative documented spellings of an unvalidated value; absent for a member with a single spelling. */
  spelled?(given: unknown): unknown
  /** The stored form of a value, or the reason why it has none. Hashes and fingerprints may be stored as written. */
  stored(given: Value, isAsWritten: boolean): StoredForm<Value>
}

/** A response that endpoints submit for a type of posture check. */
export interface PostureResponseKind<T extends PostureTypes> {
  /** The `typeId` of the response. */
  readonly typeId: T['response']['typeId']
  /** The word for it in the alternative documented name: `Domain` in `postureResponseDomainCreate`. */
  readonly schemaName: string
  /** Makes the changes of the posture data by one request's responses of this type, in order. */
  reported(
    data: T['reports'],
    responses: readonly T['response'][],
    apiSessionId: string,
    now: number,
  ): Partial<T['reports']>
}

/** A process that a client is asked to report. Hashes and signers are not revealed to clients. */
export interface QueriedProcess {
  readonly osType: OsType
  readonly path: string
}

/** The value of a timeout, and of its remaining time, for a check without a timeout. */
export const NO_TIMEOUT = -1

/** The members of a query to a client. Timeouts are seconds, -1 for none; `timeoutAt` is epoch ms. */
export interface QueryMembers {
  readonly timeout: number
  readonly timeoutRemaining: number
  readonly timeoutAt?: number
  readonly promptOnWake?: true
  readonly promptOnUnlock?: true
  readonly process?: QueriedProcess
  readonly processes: readonly QueriedProcess[]
}

/** The time for which a check passes without a new proof, and its whole timeout, both in seconds; 0 and less mean no limit. */
export interface GracePeriod {
  readonly timeoutSeconds: number
  readonly remainingSeconds: number
}

/** Versions of operating systems for user interfaces to offer. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  Android: ['10', '11', '9'],
  Linux: ['4.14', '4.19', '5.4', '5.9'],
  Windows: ['10', '2000', '7', '8', 'Vista'],
  iOS: ['11', '12'],
  macOS: ['10.15', '11.0'],
}

/** The list entry of a type, for operating systems with their versions. */
export function listedOn(name: string, types: readonly string[]): ListedPostureCheckType {
  const operatingSystems = [...types].sort(compareStrings).map((type) => ({ type, versions: VERSIONS[type] ?? [] }))
  return { name, operatingSystems }
}

/** The kinds of condition that a posture check may miss. */
export const MISSING_KINDS = [
  /** The endpoint never reported the values of the check. */
  'not-reported',
  /** The endpoint reported a value that the check does not permit. */
  'value-not-admitted',
  /** The process is not running. */
  'process-not-running',
  /** The process runs from a binary with another hash. */
  'process-hash-not-admitted',
  /** The process runs from a binary with another signer. */
  'process-signer-not-admitted',
  /** The API session never passed MFA. */
  'mfa-not-passed',
  /** The MFA pass of the API session timed out. */
  'mfa-timed-out',
  /** The endpoint was unlocked or woken, and no new code came within the grace period. */
  'mfa-prompt-unanswered',
] as const
export type MissingKind = (typeof MISSING_KINDS)[number]

/** A condition that a posture check misses; `path` names the process, for a condition on a process. */
export interface MissingPosture {
  readonly kind: MissingKind
  readonly path?: string
}

/** Lists the missing conditions of a failing check that reads a single report. */
export function missingReport(report: object | null): readonly MissingPosture[] {
  return [{ kind: report === null ? 'not-reported' : 'value-not-admitted' }]
}

/** The stored form of a value, or the invalid field, named by its path below the given value. */
export type StoredForm<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly field: string; readonly reason: string; readonly value: string }

/** The stored form of a value that is kept as given. */
export function storedAsGiven<Value>(value: Value): StoredForm<Value> {
  return { ok: true, value }
}

/** The stored form of MAC addresses, hashes or fingerprints: lower-case hex, or as written. Fails on a text without hex digits. */
export function storedHexList(texts: readonly string[], isAsWritten = false): StoredForm<readonly string[]> {
  const stored: string[] = []
  for (const [index, text] of texts.entries()) {
    const digits = normaliseHex(text)
    if (digits === undefined) return { ok: false, field: `[${index}]`, reason: 'no hex digits', value: text }
    stored.push(isAsWritten ? text : digits)
  }
  return { ok: true, value: stored }
}

/** The failure of an unknown operating system, which has no stored form. */
export function unknownOs(field: string, name: string): StoredForm<never> {
  return { ok: false, field, reason: 'unknown operating system', value: name }
}

/** The last value of each key, sorted by key in code-unit order. */
export function lastOfEach<Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] {
  const byKey = new Map(values.map((value) => [keyOf(value), value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}
