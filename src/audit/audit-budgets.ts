import { jsonBytes } from '../base/bytes.ts'
import { BoundedMap } from '../base/collections.ts'
import { canonicalJson } from '../base/text.ts'
import { HOUR_MS, instantText } from '../base/time.ts'
import { type Budget, fullBudget, shareOf, spend } from '../facts/audit/audit-trail.rules.ts'
import { type Observation, STRANGERS } from './audited-changes.ts'

/**
 * Milliseconds between two records of folded and omitted observations. With the second until they are sealed, they are
 * written within a minute.
 */
const TELL_AFTER_MS = 50_000
/** Milliseconds after which the first of them is written. */
const GATHER_MS = 1000
/** How many parties are counted at once; the party that was not seen for longest begins anew. */
const MOST_PARTIES = 50_000
/** Folded records of one minute; observations beyond them are left out. */
const MOST_FOLDS = 1000
/** How many parties a record of omitted observations names; it counts the others. */
const NAMED_PARTIES = 50
/** The name under which parties beyond `MOST_PARTIES` are counted together. */
const OTHERS = 'others'
/** Bytes of a record beside its content. */
const BASE_BYTES = 200

/** The bytes that parties may cause in an hour. */
export interface PartyAllowances {
  readonly strangerBytesPerHour: number
  readonly endpointBytesPerHour: number
  /** Of all endpoints together: each has an equal share. */
  readonly useBytesPerHour: number
}

/** An observation that waits to be written. */
export interface Pending {
  /** Epoch ms. */
  readonly at: number
  readonly observation: Observation
}

/** The cost of a write for the budgets of parties: it counts once the write is committed. */
export interface Spending {
  readonly at: number
  readonly budgets: Map<string, Budget>
  readonly folded: Observation[]
  readonly leftOut: string[]
}

interface Counted {
  count: number
  /** Epoch ms. */
  readonly since: number
}

interface Fold extends Counted {
  until: number
  readonly observation: Observation
}

/** Keeps the budget of each party, and counts the observations beyond it. */
export class AuditBudgets {
  readonly #allowances: PartyAllowances
  readonly #budgets = new BoundedMap<string, Budget>(MOST_PARTIES)
  /** The parties seen since `#hourAt` (epoch ms), and the number of the parties seen in the hour before it. */
  #seen = new Set<string>()
  #hourAt = 0
  #seenBefore = 0
  readonly #leftOut = new Map<string, Counted>()
  readonly #folds = new Map<string, Fold>()
  /** Epoch ms. */
  #toldAt = 0
  /** When (epoch ms) the first observation was folded or left out that no record reports yet. */
  #firstAt = 0

  constructor(allowances: PartyAllowances) {
    this.#allowances = allowances
  }

  /** Begins to judge the observations of a write at `now` (epoch ms). No budget changes before {@link settle}. */
  begin(now: number): Spending {
    return { at: now, budgets: new Map(), folded: [], leftOut: [] }
  }

  /** Reports whether a party has the bytes of an observation left. */
  hasBytes({ at, budgets }: Spending, party: string, { content }: Observation): boolean {
    const { strangerBytesPerHour, endpointBytesPerHour, useBytesPerHour } = this.#allowances
    const parties = Math.max(this.#seenBefore, this.#seen.size)
    const allowance =
      party === STRANGERS
        ? shareOf(strangerBytesPerHour, strangerBytesPerHour, 1)
        : shareOf(endpointBytesPerHour, useBytesPerHour, parties)
    const known = budgets.get(party) ?? this.#budgets.get(party) ?? fullBudget(allowance, at)
    const { isAllowed, budget } = spend(known, allowance, BASE_BYTES + jsonBytes(content), at)
    budgets.set(party, budget)
    return isAllowed
  }

  /** Counts the cost of a committed write. */
  settle({ at, budgets, folded, leftOut }: Spending): void {
    if (at >= this.#hourAt + HOUR_MS) {
      this.#seenBefore = at < this.#hourAt + 2 * HOUR_MS ? this.#seen.size : 0
      this.#seen = new Set()
      this.#hourAt = at
    }
    for (const [party, budget] of budgets) {
      this.#budgets.set(party, budget)
      if (party !== STRANGERS && this.#seen.size < MOST_PARTIES) this.#seen.add(party)
    }
    if (this.#leftOut.size === 0 && this.#folds.size === 0) this.#firstAt = at
    for (const observation of folded) this.#fold(observation, at)
    for (const party of leftOut) this.#leaveOut(party, at)
  }

  /** The instant (epoch ms) at which the trail writes folded and omitted observations; undefined without such observations. */
  get dueAt(): number | undefined {
    if (this.#leftOut.size === 0 && this.#folds.size === 0) return undefined
    return Math.max(this.#toldAt + TELL_AFTER_MS, this.#firstAt + GATHER_MS)
  }

  /** Takes the records of folded and omitted observations when they are due, or when this is the last write. */
  take(now: number, isLast: boolean): readonly Pending[] {
    const { dueAt } = this
    if (dueAt === undefined || (now < dueAt && !isLast)) return []
    this.#toldAt = now
    const folds = [...this.#folds.values()].map((fold): Pending => ({ at: now, observation: recordOf(fold) }))
    this.#folds.clear()
    return this.#leftOut.size === 0 ? folds : [...folds, { at: now, observation: this.#leftOutRecord() }]
  }

  #fold(observation: Observation, at: number): void {
    const { type, kind, actorId, reader, content, party = '' } = observation
    const { requestId: _, changes: __, entityName: ___, ...alike } = content
    const key = canonicalJson([party, type, kind, actorId, reader, alike])
    const known = this.#folds.get(key)
    if (known !== undefined) {
      known.count += 1
      known.until = at
    } else if (this.#folds.size < MOST_FOLDS) {
      const entity = kind === 'api-sessions' || kind === 'sessions' ? { entityId: null } : {}
      this.#folds.set(key, {
        count: 1,
        since: at,
        until: at,
        observation: { ...observation, ...entity, content: alike },
      })
    } else this.#leaveOut(party, at)
  }

  #leaveOut(party: string, now: number): void {
    const key = this.#leftOut.has(party) || this.#leftOut.size < MOST_PARTIES ? party : OTHERS
    const known = this.#leftOut.get(key)
    if (known === undefined) this.#leftOut.set(key, { count: 1, since: now })
    else known.count += 1
  }

  #leftOutRecord(): Observation {
    const parties = [...this.#leftOut].map(([party, { count, since }]) => ({ party, count, since }))
    this.#leftOut.clear()
    const most = parties.sort((a, b) => b.count - a.count)
    const facts = {
      count: most.reduce((sum, { count }) => sum + count, 0),
      parties: most.slice(0, NAMED_PARTIES),
      otherParties: Math.max(0, most.length - NAMED_PARTIES),
    }
    const content = { author: { by: 'system' }, facts } as const
    const nobody = { kind: null, entityId: null, actorId: null, reader: null, party: undefined }
    return { type: 'audit.left-out', ...nobody, content }
  }
}

function recordOf({ observation, count, since, until }: Fold): Observation {
  const { content } = observation
  const facts = { ...content.facts, count, since: instantText(since), until: instantText(until) }
  return { ...observation, content: { ...content, facts } }
}
