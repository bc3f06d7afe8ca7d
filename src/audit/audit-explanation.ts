import { canonicalJson } from '../base/text.ts'
import type { EngineContext } from '../context/context.ts'
import type { auditRecords } from '../facts/audit/audit-record.resource.ts'
import { fieldChanges } from '../facts/audit/audit-trail.rules.ts'
import { RESOURCES, traitsOf } from '../facts/resources/index.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { StoredRecord } from '../ports/record-storage.ts'
import { recordsAfter } from './audit-sealing.ts'
import { auditedFields, CHANGED_BY_TRYING } from './audited-changes.ts'

/** A difference between an entity and the audit records of its changes. */
export interface UnexplainedEntity {
  readonly kind: string
  readonly id: string
  /** Its present or last name; null for a kind without names. */
  readonly name: string | null
  /**
   * `altered`: fields differ from the last record of their change. `returned`: the entity exists although a record says
   * that it was deleted. `gone`: the entity is absent, and no record says that it was deleted. `added`: the entity was
   * made after the first kept record, and no record says so.
   */
  readonly what: 'altered' | 'returned' | 'gone' | 'added'
  /** The fields that differ. */
  readonly fields: readonly string[]
  /** The last record about it; null without one. */
  readonly record: string | null
}

/** The differences that no audit record explains. */
export interface UnexplainedFinding {
  /** Entities that were compared with records. */
  readonly compared: number
  readonly count: number
  /** The first of them, 100 at most. */
  readonly entities: readonly UnexplainedEntity[]
}
type AuditRecord = RecordOf<typeof auditRecords>
type Entity = StoredRecord & { readonly createdAt: number }

/** Differences that are named; the others are counted. */
const MOST_NAMED = 100
const RECORDS_AT_ONCE = 200
/** Kinds that their owners change as well, whose changes beyond a number of bytes the trail counts without telling them. */
const CHANGED_BY_OWNERS: readonly string[] = ['authenticators', 'enrollments']

/** The last that the trail says of an entity. */
interface Told {
  name: string | null
  record: string
  isThere: boolean
  /** The values of fields as records say them; undefined is the default. */
  readonly fields: Map<string, unknown>
  /** Whether a record of its creation is kept, so that every field is known. */
  isWhole: boolean
}

/**
 * Compares the entities that operators change with their kept audit records. Entities without a record are as they were
 * before the first one. Nothing is written.
 */
export async function unexplained({ storage, digest }: EngineContext): Promise<UnexplainedFinding> {
  const kinds = RESOURCES.filter(
    ({ name }) => traitsOf(name).audit === 'operators' && !CHANGED_BY_OWNERS.includes(name),
  )
  const told = new Map(kinds.map(({ name }) => [name, new Map<string, Told>()]))
  const since = await readTold(storage, told)
  const found: UnexplainedEntity[] = []
  let [compared, count] = [0, 0]
  const add = (entity: UnexplainedEntity) => {
    count += 1
    if (found.length < MOST_NAMED) found.push(entity)
  }
  for (const resource of kinds) {
    const left = told.get(resource.name) ?? new Map<string, Told>()
    const compare = (item: Entity): UnexplainedEntity | undefined => {
      const known = left.get(item.id)
      left.delete(item.id)
      const base = { kind: resource.name, id: item.id, name: nameOf(item) ?? known?.name ?? null }
      if (known === undefined) {
        const isAdded = since !== undefined && item.createdAt > since
        return isAdded ? { ...base, what: 'added', fields: [], record: null } : undefined
      }
      const { record } = known
      if (!known.isThere) return { ...base, what: 'returned', fields: [], record }
      const fields = differingFields(resource.name, item, known, digest.sha256)
      return fields.length === 0 ? undefined : { ...base, what: 'altered', fields, record }
    }
    await storage.read(async (tx) => {
      // The declaration names its fields, which the type of any kind does not.
      const fields = Object.keys(resource.fields) as (keyof Entity)[]
      for await (const { items } of tx.collection<Entity>(resource).scan(fields)) {
        for (const item of items) {
          compared += 1
          const difference = compare(item)
          if (difference !== undefined) add(difference)
        }
      }
    })
    for (const [id, { name, record, isThere }] of left) {
      if (isThere) add({ kind: resource.name, id, name, what: 'gone', fields: [], record })
    }
  }
  return { compared, count, entities: found }
}

/**
 * The fields whose values differ from the records. For an entity made before the first record, only the fields that a
 * record names are known.
 */
function differingFields(
  kind: string,
  item: Entity,
  { fields, isWhole }: Told,
  sha256: (text: string) => string,
): readonly string[] {
  const audited = auditedFields(kind)
  const now = fieldChanges(audited, undefined, item, sha256)
  const names = isWhole ? new Set([...Object.keys(now), ...fields.keys()]) : new Set(fields.keys())
  return [...names].filter((name) => {
    if (audited.reported.has(name) || CHANGED_BY_TRYING.includes(name)) return false
    return canonicalJson(now[name]?.after ?? null) !== canonicalJson(fields.get(name) ?? null)
  })
}

/** Reads the trail in order; answers when its first record was made, epoch ms. */
async function readTold(
  storage: EngineContext['storage'],
  told: ReadonlyMap<string, Map<string, Told>>,
): Promise<number | undefined> {
  let [after, since]: [string, number | undefined] = ['', undefined]
  for (;;) {
    const records = await storage.read((tx) => recordsAfter(tx, after, RECORDS_AT_ONCE))
    since ??= records[0]?.createdAt
    for (const record of records) take(told.get(record.kind ?? ''), record)
    const last = records.at(-1)
    if (last === undefined) return since
    after = last.id
  }
}

function take(ofKind: Map<string, Told> | undefined, { id, type, entityId, content }: AuditRecord): void {
  const isChange = ['entity.created', 'entity.updated', 'entity.deleted'].includes(type)
  if (ofKind === undefined || entityId === null || !isChange) return
  const known = ofKind.get(entityId)
  const isCreated = type === 'entity.created'
  const next: Told =
    known === undefined || isCreated
      ? { name: null, record: id, isThere: true, fields: new Map(), isWhole: isCreated }
      : known
  next.record = id
  next.name = content.entityName ?? next.name
  next.isThere = type !== 'entity.deleted'
  for (const [field, { after }] of Object.entries(content.changes ?? {})) next.fields.set(field, after)
  ofKind.set(entityId, next)
}

function nameOf(item: Entity): string | undefined {
  const name: unknown = Reflect.get(item, 'name')
  return typeof name === 'string' ? name : undefined
}
