import type { AccessType } from '../../../domain/access-index/index.ts'
import type { PostureResponse } from '../../../domain/posture/index.ts'

/** Which page of pairs is wanted. */
export interface SimulationPage {
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. It names a pair, so it stays good when the network changes meanwhile. */
  readonly cursor?: string | undefined
}

/** Under which circumstances access is judged by posture too: as it is now, against as it would be. */
export interface SimulatedCircumstances {
  /** Whose access is judged, each by id or name, at most 100; everybody's, page by page, when absent. */
  readonly identities?: readonly string[] | undefined
  /** Taken as if every endpoint had reported it. */
  readonly posture?: readonly PostureResponse[] | undefined
  /** True to judge as if every identity had proved a second factor. */
  readonly mfa?: boolean | undefined
  /** The instant (epoch ms) at which it would be so; now when absent. */
  readonly at?: number | undefined
}

/** An entity by id and name. */
interface Named {
  readonly id: string
  readonly name: string
}

/** Access that one identity would gain or lose to one service. */
export interface ChangedPair {
  readonly identity: Named
  readonly service: Named
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
}

/** How many pairs would gain and lose one type of access. */
export interface PairCounts {
  readonly gained: number
  readonly lost: number
}

export interface SimulationResult {
  /** The revision of the store that the changes were tried on. */
  readonly revision: number
  /** Over all pages; null on every page but the first. */
  readonly counts: { readonly dial: PairCounts; readonly bind: PairCounts } | null
  /** By service, type, gained before lost, and identity: ids in code-unit order. */
  readonly pairs: readonly ChangedPair[]
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}
