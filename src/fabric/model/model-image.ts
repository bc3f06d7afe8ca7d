import { AccessIndex, type IndexedPolicy } from '../../facts/access/index/index.ts'
import type { ModelEntity, ModelEvent, PolicySide } from '../../facts/fabric/messages/index.ts'
import type { Digest } from '../../ports/credentials.ts'
import type { ChangedConfigs } from './router-configs.ts'

type Sides = Readonly<Record<PolicySide, readonly string[]>>

const SIDES: readonly PolicySide[] = ['services', 'identities', 'posture-checks']
/** How many related ids go into one event: an event of all identities would stop everything else while it is written. */
const MOST_RELATED = 1000
/** 52 bits of a digest fit a number. */
const DIGEST_DIGITS = 13

/**
 * The model that routers have, in little memory: the entities that each policy selects, and a digest of every entity. A change of the store
 * becomes only the events that lead routers from one state to the next.
 */
export class ModelImage {
  readonly #digest: Digest
  readonly #index = new AccessIndex()
  readonly #known = new Map<string, number>()

  constructor(digest: Digest) {
    this.#digest = digest
  }

  /** An entity is as it is now, or gone; its role attributes decide by which policies it is selected. */
  putEntity(
    type: ModelEntity['type'],
    id: string,
    entity: ModelEntity | undefined,
    roleAttributes: readonly string[] = [],
  ): ModelEvent[] {
    const side = sideOf(type)
    if (side === undefined) return this.#note(type, id, entity)
    const before = this.#index.policiesSelecting('service-policies', side, id)
    if (entity === undefined) this.#index.removeEntity(side, id)
    else this.#index.putEntity(side, { id, roleAttributes })
    const after = this.#index.policiesSelecting('service-policies', side, id)
    const events = this.#note(type, id, entity)
    const separated = minus(before, after).map((policyId) => relation('separate', policyId, side, [id]))
    // Routers drop the relations of a deleted entity by themselves; routers of the line 1.6 keep checks in their policies.
    if (entity === undefined) return side === 'posture-checks' ? [...separated, ...events] : events
    const related = minus(after, before).map((policyId) => relation('relate', policyId, side, [id]))
    return [...events, ...separated, ...related]
  }

  /** A policy is as it is now, or gone. */
  putPolicy(id: string, entity: ModelEntity | undefined, policy: IndexedPolicy | undefined): ModelEvent[] {
    const before = this.#selected(id)
    if (policy === undefined) this.#index.removePolicy('service-policies', id)
    else this.#index.putPolicy('service-policies', policy)
    const events = this.#note('service-policy', id, entity)
    // Routers of the line 1.6 keep a policy that is gone at the identities that it selected.
    if (entity === undefined) return [...relations('separate', id, 'identities', before.identities), ...events]
    const after = this.#selected(id)
    const separated = SIDES.flatMap((side) => relations('separate', id, side, minus(before[side], after[side])))
    const related = SIDES.flatMap((side) => relations('relate', id, side, minus(after[side], before[side])))
    return [...events, ...separated, ...related]
  }

  #selected(policyId: string): Sides {
    const members = (side: PolicySide) =>
      this.#index.has('service-policies', policyId) ? this.#index.selectedBy('service-policies', policyId, side) : []
    return {
      services: members('services'),
      identities: members('identities'),
      'posture-checks': members('posture-checks'),
    }
  }

  #note(type: ModelEntity['type'], id: string, entity: ModelEntity | undefined): ModelEvent[] {
    const key = `${type} ${id}`
    const before = this.#known.get(key)
    if (entity === undefined) return this.#known.delete(key) ? [{ action: 'delete', type, id }] : []
    const digest = this.#digestOf(entity)
    this.#known.set(key, digest)
    if (before === digest) return []
    return [{ action: before === undefined ? 'create' : 'update', entity }]
  }

  #digestOf(entity: ModelEntity): number {
    const text = JSON.stringify(entity, (_key, value) => (value instanceof Map ? [...value] : value))
    return Number.parseInt(this.#digest.sha256(text).slice(0, DIGEST_DIGITS), 16)
  }
}

function sideOf(type: ModelEntity['type']): PolicySide | undefined {
  if (type === 'identity') return 'identities'
  if (type === 'service') return 'services'
  return type === 'posture-check' ? 'posture-checks' : undefined
}

function relations(
  action: 'relate' | 'separate',
  policyId: string,
  side: PolicySide,
  ids: readonly string[],
): readonly ModelEvent[] {
  const pieces: ModelEvent[] = []
  for (let at = 0; at < ids.length; at += MOST_RELATED) {
    pieces.push(relation(action, policyId, side, ids.slice(at, at + MOST_RELATED)))
  }
  return pieces
}

function relation(
  action: 'relate' | 'separate',
  policyId: string,
  side: PolicySide,
  entityIds: readonly string[],
): ModelEvent {
  return { action, policyId, side, entityIds }
}

/** The ids that are not among the others; both ascend, as the index answers them. */
function minus(ids: readonly string[], others: readonly string[]): readonly string[] {
  let position = 0
  return ids.filter((id) => {
    for (let other = others[position]; other !== undefined && other < id; other = others[position]) position += 1
    return others[position] !== id
  })
}

/** The changes of the model by the revision `index`, in the form of the wire. */
export interface ModelStep {
  readonly index: number
  readonly events: Uint8Array
  /** The changes that are for some routers alone. */
  readonly configs: ChangedConfigs | undefined
}

const MOST_STEPS = 2000
const MOST_BYTES = 32 * 1024 * 1024

/** The latest steps of the model: for routers that come back, and to bring a written model up to date. */
export class StepLog {
  #steps: ModelStep[] = []
  #bytes = 0
  /** Every step after this index is here. */
  #completeFrom: number

  constructor(index: number) {
    this.#completeFrom = index
  }

  add(step: ModelStep): void {
    this.#steps.push(step)
    this.#bytes += step.events.length
    while (this.#steps.length > MOST_STEPS || this.#bytes > MOST_BYTES) {
      const dropped = this.#steps.shift()
      if (dropped === undefined) return
      this.#bytes -= dropped.events.length
      this.#completeFrom = dropped.index
    }
  }

  /** The steps after an index, oldest first; undefined when some of them are not here any more. */
  after(index: number): readonly ModelStep[] | undefined {
    return index < this.#completeFrom ? undefined : this.#steps.filter((step) => step.index > index)
  }
}
