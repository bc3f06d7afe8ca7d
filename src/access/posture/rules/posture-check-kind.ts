import type { OsType } from '../data/os-type.ts'
import type { MissingPosture } from './missing-posture.ts'
import type { StoredForm } from './stored-form.ts'

/** The TypeScript types that belong to one type of posture check. */
export interface PostureTypes {
  readonly check: PostureCheckBase
  /** The part of the posture data that such a check looks at. */
  readonly reports: object
  /** What endpoints submit for it; never where they answer it by the response of another type. */
  readonly response: { readonly id: string; readonly typeId: string }
  /** What the record of a failed service request says of such a check. */
  readonly failure: { readonly actualValue: unknown; readonly expectedValue: unknown }
  /** The reports as the management API shows them; nothing where another type shows them. */
  readonly view: object
}

/** What every posture check has. */
export interface PostureCheckBase {
  readonly id: string
  readonly name: string
  readonly typeId: string
}

/**
 * A type of posture check, with all that it decides: what a check of the type holds, what endpoints report for it, when
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
  /** What a check holds besides its name. */
  readonly members: PostureCheckMembers<T['check']>
  /** The part of the posture data of an identity whose endpoints reported nothing yet. */
  readonly nothingReported: Partial<T['reports']>
  /** What endpoints submit; absent where they answer it by the response of another type. */
  readonly response?: PostureResponseKind<T>
  /** Who makes a failing check pass: the endpoint by being different, or its user by proving a second factor. */
  readonly fulfilledBy: 'endpoint' | 'user'
  /** A check without reports to look at fails. */
  passes(check: T['check'], data: T['reports'], apiSessionId: string, now: number): boolean
  /** What was found and what was expected. Values that were never reported are empty. */
  failure(check: T['check'], data: T['reports'], apiSessionId: string, now: number): T['failure']
  /** True when something was reported that the check can look at. */
  isKnown(check: T['check'], data: T['reports'], apiSessionId: string): boolean
  /** What keeps the check from passing; asked only of a check that fails. */
  missing(check: T['check'], data: T['reports'], apiSessionId: string, now: number): readonly MissingPosture[]
  /** The expected values as words of a sentence, each of which would pass; empty where there is nothing to say. */
  expectedWords(expected: T['failure']['expectedValue']): readonly string[]
  /** The found value as words of a sentence; absent where `value-not-admitted` is never missing. */
  actualWords?(actual: T['failure']['actualValue']): string
  /** What a client is asked beside the type; nothing when absent. */
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

/** What endpoints submit for a type of posture check. */
export interface PostureResponseKind<T extends PostureTypes> {
  /** The `typeId` of the response. */
  readonly typeId: T['response']['typeId']
  /** The word for it in the other documented name: `Domain` in `postureResponseDomainCreate`. */
  readonly schemaName: string
  /** What of the posture data changes by the responses of this type of one request, which are in order. */
  reported(
    data: T['reports'],
    responses: readonly T['response'][],
    apiSessionId: string,
    now: number,
  ): Partial<T['reports']>
}

/** A process that a client is asked to report. Hashes and signers are not told to clients. */
export interface QueriedProcess {
  readonly osType: OsType
  readonly path: string
}

/** The timeout, or the time remaining of one, where there is none. */
export const NO_TIMEOUT = -1

/** What a client may be asked. Timeouts are seconds, -1 for none; `timeoutAt` is epoch ms. */
export interface QueryMembers {
  readonly timeout: number
  readonly timeoutRemaining: number
  readonly timeoutAt?: number
  readonly promptOnWake?: true
  readonly promptOnUnlock?: true
  readonly process?: QueriedProcess
  readonly processes: readonly QueriedProcess[]
}

/** For how long a check passes without a new proof: whole seconds, and its whole timeout, of which 0 and less are none. */
export interface GracePeriod {
  readonly timeoutSeconds: number
  readonly remainingSeconds: number
}
