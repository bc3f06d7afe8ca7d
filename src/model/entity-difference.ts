import { isMap, textsIn } from '../base/members.ts'
import { inputName } from '../kernel/declaration/quirks.ts'
import type { AccessDifference, AccessView } from './access-difference.ts'
import { type Body, kindOfKey, MODEL_KEYS, type ModelKey, SERVICE_CONFIGS } from './managed-kinds.ts'
import { ModelError, type Problem } from './model-problem.ts'
import type { Model, ModelEntity, Network, NetworkEntity } from './network-model.ts'
import { sameValue } from './read-entity.ts'

/** One member that an update changes; undefined stands for its default. */
export interface MemberChange {
  readonly member: string
  readonly before: unknown
  readonly after: unknown
}

/** One change that applying a model makes to a controller. Bodies hold names where the API takes ids. */
export type PlannedChange =
  | { readonly action: 'create'; readonly key: ModelKey; readonly name: string; readonly body: Body }
  | {
      readonly action: 'update'
      readonly key: ModelKey
      readonly name: string
      readonly id: string
      readonly body: Body
      readonly members: readonly MemberChange[]
    }
  | { readonly action: 'delete'; readonly key: ModelKey; readonly name: string; readonly id: string }

/** The changes of a model that was applied. */
export interface AppliedModel {
  /** In the order in which they were made. */
  readonly changes: readonly PlannedChange[]
  /** The number of entities that already were as the model describes them. */
  readonly unchanged: number
  /** The access that identities gained and lost, posture aside. */
  readonly access: AccessDifference
}

/** The changes that bring a network in line with a model. */
export interface EntityDifference {
  /** In the order in which they can be made. */
  readonly changes: readonly PlannedChange[]
  /** The number of entities that already are as the model describes them. */
  readonly unchanged: number
}

/**
 * Compares the entities of a model with a network. `desired` has them as a controller would keep them. With `prune`, entities that the
 * model does not hold are deleted, of the kinds that it lists. The controller's own entities and the entities that `isProtected`
 * names stay. Throws {@link ModelError} for a difference in a member that is settled at creation.
 */
export function entityDifference(
  model: Model,
  current: Network,
  desired: Network,
  prune?: { readonly isProtected: (entity: NetworkEntity) => boolean },
): EntityDifference {
  const creations: PlannedChange[] = []
  const updates: PlannedChange[] = []
  const problems: Problem[] = []
  let unchanged = 0
  for (const entity of inOrderOfCreation(model)) {
    const { key, name } = entity
    const after = desired.named(key, name)?.body ?? entity.body
    const existing = current.named(key, name)
    if (existing === undefined) {
      creations.push({ action: 'create', key, name, body: { ...requestOnly(entity), ...after } })
      continue
    }
    const members = memberChanges(existing.body, after)
    problems.push(...settledProblems(entity, members))
    if (members.length === 0) unchanged++
    else updates.push({ action: 'update', key, name, id: existing.id, body: after, members })
  }
  if (problems.length > 0) throw new ModelError(problems)
  const deletions = prune === undefined ? [] : pruned(model, current, prune.isProtected)
  return { changes: [...creations, ...updates, ...deletions], unchanged }
}

function inOrderOfCreation({ entities }: Model): readonly ModelEntity[] {
  return entities.toSorted((a, b) => MODEL_KEYS.indexOf(a.key) - MODEL_KEYS.indexOf(b.key))
}

/** Picks the members that only a request to create an entity takes, such as an enrollment. */
function requestOnly({ key, body }: ModelEntity): Body {
  const asked = Object.keys(kindOfKey(key).resource.definition.createRequest ?? {})
  return Object.fromEntries(Object.entries(body).filter(([member]) => asked.includes(member)))
}

function memberChanges(before: Body, after: Body): readonly MemberChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .filter((member) => !sameValue(before[member], after[member]))
    .map((member) => ({ member, before: before[member], after: after[member] }))
}

function settledProblems(entity: ModelEntity, members: readonly MemberChange[]): readonly Problem[] {
  const { definition } = kindOfKey(entity.key).resource
  const settled = Object.keys(definition.createOnly ?? {}).map((field) => inputName(definition, field))
  return members
    .filter(({ member }) => settled.includes(member))
    .map(({ member, before }) => ({
      place: entity.place([member]),
      subject: `${entity.key} '${entity.name}', ${member}`,
      message: `is settled at creation and is ${JSON.stringify(before) ?? 'the default'} now: give the entity another name`,
    }))
}

/** The deletions of all entities that a model does not hold, of the kinds that it lists. */
export function pruned(
  model: Model,
  current: Network,
  isProtected: (entity: NetworkEntity) => boolean,
): readonly PlannedChange[] {
  const names = new Set(model.entities.map(({ key, name }) => `${key} ${name}`))
  return current.entities
    .filter((entity) => model.listed.has(entity.key) && !names.has(`${entity.key} ${entity.name}`))
    .filter((entity) => !entity.isKept && !isProtected(entity))
    .toSorted((a, b) => MODEL_KEYS.indexOf(b.key) - MODEL_KEYS.indexOf(a.key))
    .map(({ key, name, id }) => ({ action: 'delete', key, name, id }))
}

/** The pairs of service and config of an identity's body. */
export function serviceConfigsOf(body: Body): readonly { readonly service: string; readonly config: string }[] {
  const pairs = body[SERVICE_CONFIGS]
  if (!Array.isArray(pairs)) return []
  return pairs.filter(isMap).map(({ service, config }) => ({ service: String(service), config: String(config) }))
}

/** A network as bodies by name, also after changes. */
export class NetworkView implements AccessView {
  readonly #bodies = new Map<ModelKey, Map<string, Body>>()

  constructor(network: Network, changes: readonly PlannedChange[] = []) {
    for (const { key, name, body } of network.entities) this.#of(key).set(name, body)
    for (const change of changes) {
      if (change.action === 'delete') this.#of(change.key).delete(change.name)
      else this.#of(change.key).set(change.name, change.body)
    }
    for (const { key, name, otherAttributes = [] } of network.entities) {
      const body = otherAttributes.length === 0 ? undefined : this.#of(key).get(name)
      if (body === undefined) continue
      const roleAttributes = [...textsIn(body.roleAttributes), ...otherAttributes]
      this.#of(key).set(name, { ...body, roleAttributes })
    }
  }

  entitiesOf(key: ModelKey): ReadonlyMap<string, Body> {
    return this.#of(key)
  }

  #of(key: ModelKey): Map<string, Body> {
    const known = this.#bodies.get(key) ?? new Map<string, Body>()
    this.#bodies.set(key, known)
    return known
  }
}
