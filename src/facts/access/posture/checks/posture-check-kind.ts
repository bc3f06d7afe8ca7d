import { compareStrings } from '../../../../kernel/filter/matches.ts'
import { normaliseHex, type OsType } from './posture-data.ts'

/** The TypeScript types that belong to one type of posture check. */
export interface PostureTypes {
  readonly check: PostureCheckBase
  /** The part of the posture data that such a check looks at. */
  readonly reports: object
  /** The response that endpoints submit for it; never where they answer it by the response of another type. */
  readonly response: { readonly id: string; readonly typeId: string }
  /** The values of the record of a failed service request for such a check. */
  readonly failure: { readonly actualValue: unknown; readonly expectedValue: unknown }
  /** The reports as the management API shows them; nothing where another type shows them. */
  readonly view: object
}

/** The members of every posture check. */
export interface PostureCheckBase {
  readonly id: string
  readonly name: string
  readonly typeId: string
}

/**
 * A type of posture check, with everything that it decides: what a check of the type holds, what endpoints report for it, when
 * it passes, why it does not, and what clients are asked. Nothing else in the product tells types apart.
 *
 * Its functions are given the posture data of one identity, the id of the API session in question (which need not be
 * known) and the instant in question (epoch ms).
 */
export interface PostureCheckKind<T extends PostureTypes> {
  /** The word for the type in the other documented names: `Domain` in `postureCheckDomainCreate`. */
  readonly schemaName: string
  /** How the list of posture check types shows it; absent when checks work without being listed. */
  readonly listed?: ListedPostureCheckType
  /** The members of a check besides its name. */
  readonly members: PostureCheckMembers<T['check']>
  /** The part of the posture data of an identity whose endpoints reported nothing yet. */
  readonly nothingReported: Partial<T['reports']>
  /** The response that endpoints submit; absent where they answer it by the response of another type. */
  readonly response?: PostureResponseKind<T>
  /** Who makes a failing check pass: the endpoint by being different, or its user by proving a second factor. */
  readonly fulfilledBy: 'endpoint' | 'user'
  /** A check without reports to look at fails. */
  passes(check: T['check'], data: T['reports'], apiSessionId: string, now: number): boolean
  /** Tells the actual and the expected value. Values that were never reported are empty. */
  failure(check: T['check'], data: T['reports'], apiSessionId: string, now: number): T['failure']
  /** True when something was reported that the check can look at. */
  isKnown(check: T['check'], data: T['reports'], apiSessionId: string): boolean
  /** Lists the conditions that the check misses; asked only of a check that fails. */
  missing(check: T['check'], data: T['reports'], apiSessionId: string, now: number): readonly MissingPosture[]
  /** The values that would pass, as words of a sentence; empty where there is nothing to say. */
  expectedWords(expected: T['failure']['expectedValue']): readonly string[]
  /** The found value as words of a sentence; absent where `value-not-admitted` is never missing. */
  actualWords?(actual: T['failure']['actualValue']): string
  /** Makes the members of a client's query beside the type; none when absent. */
  query?(check: T['check'], data: T['reports'], apiSessionId: string, now: number): Partial<QueryMembers>
  /** When the query changed by what was reported (epoch ms); `undefined` when it did not. */
  queryChangedAt?(check: T['check'], data: T['reports'], apiSessionId: string): number | undefined
  /** The instants (epoch ms), past or to come, at which a check that passes ends by itself; none when absent. */
  deadlines?(check: T['check'], data: T['reports'], apiSessionId: string): readonly number[]
  /** The grace period that responses of the type, applied already, began for the check; none when absent. */
  grace?(
    check: T['check'],
    data: T['reports'],
    responses: readonly T['response'][],
    apiSessionId: string,
    now: number,
  ): GracePeriod | undefined
  /** Shows the reports to the management API. */
  view(data: T['reports']): T['view']
}

/** How the list of posture check types shows a type. */
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
  /** Stands in where a record has none, which writing prevents; no endpoint can pass by it. */
  readonly absent: Value
  /** Puts other documented spellings of an unvalidated value right; absent when there are none. */
  spelled?(given: unknown): unknown
  /** The value as it is kept, or why it has no such form. Hashes and fingerprints may be kept as they are written. */
  stored(given: Value, isAsWritten: boolean): StoredForm<Value>
}

/** A response that endpoints submit for a type of posture check. */
export interface PostureResponseKind<T extends PostureTypes> {
  /** The `typeId` of the response. */
  readonly typeId: T['response']['typeId']
  /** The word for it in the other documented name: `Domain` in `postureResponseDomainCreate`. */
  readonly schemaName: string
  /** Makes the changes of the posture data by the responses of this type of one request, which are in order. */
  reported(
    data: T['reports'],
    responses: readonly T['response'][],
    apiSessionId: string,
    now: number,
  ): Partial<T['reports']>
}

/** A process that a client is asked to report. Clients do not see hashes and signers. */
export interface QueriedProcess {
  readonly osType: OsType
  readonly path: string
}

/** The timeout, or the time remaining of one, where there is none. */
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

/** For how long a check passes without a new proof: whole seconds, and its whole timeout; 0 and less mean no limit. */
export interface GracePeriod {
  readonly timeoutSeconds: number
  readonly remainingSeconds: number
}

/** Versions of operating systems that a user interface may offer. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  Android: ['10', '11', '9'],
  Linux: ['4.14', '4.19', '5.4', '5.9'],
  Windows: ['10', '2000', '7', '8', 'Vista'],
  iOS: ['11', '12'],
  macOS: ['10.15', '11.0'],
}

/** A type as it is listed, for operating systems with the versions that one may choose. */
export function listedOn(name: string, types: readonly string[]): ListedPostureCheckType {
  const operatingSystems = [...types].sort(compareStrings).map((type) => ({ type, versions: VERSIONS[type] ?? [] }))
  return { name, operatingSystems }
}

/** The kinds of condition that a posture check may miss. */
export const MISSING_KINDS = [
  /** The endpoint never reported what the check asks for. */
  'not-reported',
  /** The endpoint reported a value that the check does not admit. */
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

/** A condition that a posture check misses; `path` names the process, where it is about one. */
export interface MissingPosture {
  readonly kind: MissingKind
  readonly path?: string
}

/** Lists the conditions that a failing check misses that looks at one report. */
export function missingReport(report: object | null): readonly MissingPosture[] {
  return [{ kind: report === null ? 'not-reported' : 'value-not-admitted' }]
}

/** A value in the form that is stored, or the field that has none, named by its path below the given value. */
export type StoredForm<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly field: string; readonly reason: string; readonly value: string }

/** A value that is stored as it was given. */
export function storedAsGiven<Value>(value: Value): StoredForm<Value> {
  return { ok: true, value }
}

/**
 * MAC addresses, hashes or fingerprints as they are stored: lower-case hex, or as they are written. Fails on a text without
 * hex digits.
 */
export function storedHexList(texts: readonly string[], isAsWritten = false): StoredForm<readonly string[]> {
  const stored: string[] = []
  for (const [index, text] of texts.entries()) {
    const digits = normaliseHex(text)
    if (digits === undefined) return { ok: false, field: `[${index}]`, reason: 'no hex digits', value: text }
    stored.push(isAsWritten ? text : digits)
  }
  return { ok: true, value: stored }
}

/** An operating system that no posture check can name has no stored form. */
export function unknownOs(field: string, name: string): StoredForm<never> {
  return { ok: false, field, reason: 'unknown operating system', value: name }
}

/** The last value of each key, sorted by key code unit by code unit. */
export function lastOfEach<Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] {
  const byKey = new Map(values.map((value) => [keyOf(value), value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}
