import type { AccessIndexFeed } from '../context/context.ts'
import { StoreLevel } from '../context/store-level.ts'
import { Deadlines } from '../context/timetable.ts'
import {
  AccessIndex,
  type AccessType,
  type EntityKind,
  type IndexCounts,
  type IndexedEntity,
  type IndexedPolicy,
  POLICY_KINDS,
  type SlotSet,
} from '../facts/access/index/index.ts'
import {
  ENTITY_KINDS,
  indexedEntity,
  indexedPolicy,
  type RolesRecord,
  rosterFields,
  termOf,
} from '../facts/access/indexed-records.ts'
import { isInForce, nextPhaseAt } from '../facts/access/policy-term.rules.ts'
import { nextLossAt } from '../facts/authority/authority.rules.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { type Change, DamagedRecord, type HistoryPoint, type ReadTransaction } from '../ports/record-storage.ts'
import type { Turns } from '../ports/runtime.ts'
import type { AccessMoves } from './access-moves.ts'

const ACCESS_TYPES = ['Bind', 'Dial'] as const satisfies readonly AccessType[]

/** An identity gained or lost a service by a change of its own role attributes. */
export interface AccessChange {
  readonly identityId: string
  readonly serviceId: string
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
}

/** Terms of service policies, of grants and of what a directory of the host gives, as the index meets them. */
export interface IndexTerms {
  /** Epoch ms. */
  now(): number
  /** A policy or a grant begins or ends at an instant (epoch ms), or an identity is due for the directory, whichever process wrote it. */
  due(occasion: 'policy-term' | 'attribute-grant' | 'directory', at: number): void
}

/** The access index, level with the store. */
export class AccessFeed implements AccessIndexFeed {
  readonly #turns: Turns
  readonly #tell: (change: AccessChange) => void
  readonly #level: StoreLevel
  readonly #moves: AccessMoves | undefined
  readonly #terms: IndexTerms
  #index = new AccessIndex()
  /** The policies in force and the role attributes that end by themselves, by kind and id, and what the end of each does to the index. */
  #ends = new Deadlines()
  readonly #endings = new Map<string, () => void>()
  #unreadableChecks: readonly string[] = []
  #stands = false
  /** Of the build that is under way. */
  #recordsRead = 0

  /**
   * `turns` shares the thread during long reads. `tell` is called with the access that a change of an identity's own
   * role attributes gives and takes. `terms` knows the time. `latest` asks the store for its place, in a snapshot of
   * its own. `moves` remembers the identities that gained or lost access.
   */
  constructor(
    turns: Turns,
    terms: IndexTerms,
    tell: (change: AccessChange) => void = () => undefined,
    latest?: () => Promise<HistoryPoint>,
    moves?: AccessMoves,
  ) {
    this.#turns = turns
    this.#terms = terms
    this.#moves = moves
    this.#tell = tell
    this.#level = new StoreLevel((tx, changes) => this.#catchUp(tx, changes), latest)
  }

  /** The index as of the snapshot `tx`, or a later one. */
  async at(tx: ReadTransaction): Promise<AccessIndex> {
    await this.#level.reach(tx)
    await this.#endDue()
    return this.#index
  }

  /** Reads the counts of the index, and the revision that it has reached; -1 before the first question. */
  state(): { readonly counts: IndexCounts; readonly revision: number } {
    return { counts: this.#index.counts(), revision: this.#level.revision }
  }

  /** Reports whether the index answers at once, and how many records its build has read so far. */
  standing(): { readonly stands: boolean; readonly recordsRead: number } {
    return { stands: this.#stands, recordsRead: this.#recordsRead }
  }

  /** Reports whether the index matches the snapshot exactly, and holds nothing later. */
  isLevelWith(tx: ReadTransaction): boolean {
    return this.#level.isAt(tx)
  }

  /** Reports whether an identity gained or lost access after a revision, as far as that is remembered. */
  hasMoved(since: number, identityId: string): boolean {
    return this.#moves?.concern(this.#index, since, identityId) ?? false
  }

  async #catchUp(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    if (changes === undefined || !(await this.#follow(tx, changes))) await this.#build(tx)
    this.#moves?.settle(tx.revision)
  }

  /** Ends the policies and the role attributes whose end has come: the write that says so may be late, or refused. */
  async #endDue(): Promise<void> {
    if (this.#ends.size === 0) return
    const now = this.#terms.now()
    const turn = this.#turns.begin()
    for (let [key] = this.#ends.takeDue(now, 1); key !== undefined; [key] = this.#ends.takeDue(now, 1)) {
      const end = this.#endings.get(key)
      this.#endings.delete(key)
      end?.()
      await turn()
    }
  }

  /** From an instant (epoch ms) on a record stands otherwise in the index, unless it is read again before. */
  #endAt(kind: string, id: string, at: number, put: () => void): void {
    const key = keyOf(kind, id)
    this.#ends.set(key, at)
    this.#endings.set(key, () => this.#change(kind, id, put))
  }

  async #build(tx: ReadTransaction): Promise<void> {
    this.#ends = new Deadlines()
    this.#endings.clear()
    this.#stands = false
    this.#recordsRead = 0
    const asPolicy = (resource: Resource, record: RecordOf<Resource>, checks: readonly string[]) =>
      this.#indexed(resource, record, checks)
    const asEntity = (kind: EntityKind, record: RolesRecord) => this.#indexedEntity(kind, record)
    const onRecord = () => {
      this.#recordsRead += 1
    }
    const { index, unreadableChecks } = await buildIndex(tx, this.#turns, { asEntity, asPolicy, onRecord })
    this.#index = index
    this.#unreadableChecks = unreadableChecks
    this.#stands = true
  }

  /** Answers false when a changed record turns out to be damaged, so that the index has to be built afresh. */
  async #follow(tx: ReadTransaction, changes: readonly Change[]): Promise<boolean> {
    const turn = this.#turns.begin()
    const touched = new Map(changes.map(({ kind, id }) => [keyOf(kind, id), { kind, id }]))
    for (const { kind, id } of touched.values()) {
      try {
        await this.#refresh(tx, kind, id)
      } catch (error) {
        if (error instanceof DamagedRecord) return false
        throw error
      }
      await turn()
    }
    return true
  }

  async #refresh(tx: ReadTransaction, kind: string, id: string): Promise<void> {
    const entityKind = ENTITY_KINDS.find((name) => name === kind)
    const policyKind = POLICY_KINDS.find((name) => name === kind)
    if (entityKind === undefined && policyKind === undefined) return
    const resource = resourceNamed(kind)
    const record = await tx.collection(resource).get(id)
    const put = () => {
      this.#ends.delete(keyOf(kind, id))
      this.#endings.delete(keyOf(kind, id))
      if (entityKind !== undefined) {
        if (record === undefined) this.#index.removeEntity(entityKind, id)
        else this.#putEntity(entityKind, this.#indexedEntity(entityKind, record))
      } else if (policyKind !== undefined) {
        if (record === undefined) this.#index.removePolicy(policyKind, id)
        else this.#index.putPolicy(policyKind, this.#indexed(resource, record, this.#unreadableChecks))
      }
    }
    this.#change(kind, id, put)
  }

  #change(kind: string, id: string, put: () => void): void {
    if (this.#moves === undefined) put()
    else this.#moves.during(this.#index, { kind, id }, put)
  }

  #indexedEntity(kind: EntityKind, record: RolesRecord): IndexedEntity {
    if (kind === 'identities') {
      const { directoryUntil, directoryDueAt, grantsDueAt } = record
      for (const at of [directoryUntil, directoryDueAt]) if (typeof at === 'number') this.#terms.due('directory', at)
      if (typeof grantsDueAt === 'number') this.#terms.due('attribute-grant', grantsDueAt)
      this.#endNextOf(record, this.#terms.now())
    }
    return indexedEntity(record, this.#terms.now())
  }

  /** Takes the role attributes of an identity that end by themselves after `now` (epoch ms) away, one instant after the other. */
  #endNextOf(record: RolesRecord, now: number): void {
    const at = nextLossAt(record, now)
    if (at === undefined) return
    const { id, roleAttributes, claimAttributes, directoryAttributes, directoryUntil, attributeGrants } = record
    const held = { id, roleAttributes, claimAttributes, directoryAttributes, directoryUntil, attributeGrants }
    this.#endAt('identities', id, at, () => {
      this.#putEntity('identities', indexedEntity(held, at))
      this.#endNextOf(held, at)
    })
  }

  #indexed(resource: Resource, record: RecordOf<Resource>, unreadableChecks: readonly string[]): IndexedPolicy {
    const next = nextPhaseAt(termOf(record))
    if (next !== undefined) this.#terms.due('policy-term', next)
    const policy = indexedPolicy(resource, record, unreadableChecks, (term) => isInForce(term, this.#terms.now()))
    const { until } = termOf(record)
    if (until === null || policy.isDormant === true) return policy
    const over = { ...policy, isDormant: true }
    this.#endAt('service-policies', policy.id, until, () => this.#index.putPolicy('service-policies', over))
    return policy
  }

  #putEntity(kind: EntityKind, entity: IndexedEntity): void {
    const roles = entity.roleAttributes.map((name) => `#${name}`)
    const isRegrouped =
      kind === 'identities' &&
      this.#index.has(kind, entity.id) &&
      String(roles) !== String(this.#index.rolesOf(kind, entity.id))
    const before = isRegrouped ? this.#reachOf(entity.id) : undefined
    this.#index.putEntity(kind, entity)
    if (before === undefined) return
    const after = this.#reachOf(entity.id)
    for (const type of ACCESS_TYPES) {
      this.#tellAll(entity.id, type, 'gained', after[type].without(before[type]))
      this.#tellAll(entity.id, type, 'lost', before[type].without(after[type]))
    }
  }

  #tellAll(identityId: string, type: AccessType, change: AccessChange['change'], services: SlotSet): void {
    if (services.size === 0) return
    for (const serviceId of this.#index.servicesIn(services)) this.#tell({ identityId, serviceId, type, change })
  }

  #reachOf(identityId: string): Readonly<Record<AccessType, SlotSet>> {
    return { Bind: this.#index.reachOf(identityId, 'Bind'), Dial: this.#index.reachOf(identityId, 'Dial') }
  }
}

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`
}

/** The form of each record in an index that is built, and what is called for each. */
interface Building {
  asEntity(kind: EntityKind, record: RolesRecord): IndexedEntity
  asPolicy(resource: Resource, record: RecordOf<Resource>, unreadableChecks: readonly string[]): IndexedPolicy
  onRecord(): void
}

/** An index, and the ids of the posture checks whose role attributes it does not know. */
interface BuiltIndex {
  readonly index: AccessIndex
  readonly unreadableChecks: readonly string[]
}

/**
 * Unreadable entities stand in the index with their readable parts; unreadable policies grant nothing. A posture check
 * with unreadable role attributes counts as selected by every policy that selects any check by attribute.
 */
async function buildIndex(
  tx: ReadTransaction,
  turns: Turns,
  { asEntity, asPolicy, onRecord }: Building,
): Promise<BuiltIndex> {
  const index = new AccessIndex()
  const unreadableChecks: string[] = []
  const turn = turns.begin()
  for (const kind of ENTITY_KINDS) {
    for await (const { items, damaged = [] } of tx.collection(resourceNamed(kind)).scan(rosterFields(kind))) {
      for (const record of items) {
        index.putEntity(kind, asEntity(kind, record))
        onRecord()
        await turn()
      }
      for (const { id } of damaged) {
        index.putEntity(kind, { id, roleAttributes: [] })
        if (kind === 'posture-checks') unreadableChecks.push(id)
      }
    }
  }
  for (const kind of POLICY_KINDS) {
    const resource = resourceNamed(kind)
    const { items } = await tx.collection(resource).find()
    for (const record of items) {
      index.putPolicy(kind, asPolicy(resource, record, unreadableChecks))
      onRecord()
      await turn()
    }
  }
  return { index, unreadableChecks }
}
