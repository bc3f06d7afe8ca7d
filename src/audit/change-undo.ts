import { z } from 'zod'
import type { SimulationPage, SimulationResult } from '../access/simulation/audience-changes.ts'
import type { SimulatedChange } from '../access/simulation/resolve-changes.ts'
import { DECISIVE_OF_CAS, DECISIVE_OF_SIGNERS } from '../authority/trust.ts'
import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { canonicalJson } from '../base/text.ts'
import { instantText } from '../base/time.ts'
import { type Call, isAdminCall, mayRead } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { auditRecords } from '../facts/audit/audit-record.resource.ts'
import { type Undoing, type UndoneKind, type UndoPlan, undoing } from '../facts/audit/change-undo.rules.ts'
import { undoText } from '../facts/audit/undo-text.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { RESOURCES } from '../facts/resources/index.ts'
import { inputName } from '../kernel/declaration/quirks.ts'
import { readId, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf, Resource, StandardOperation } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { SetBack } from '../records/resource-service.ts'
import { auditEntries, mayReadRecord } from './audit-entry.ts'
import { recordsAfter } from './audit-sealing.ts'

/** The operations on the entities of one resource, of any kind. */
interface UndoneEntities {
  create(call: Call, request: object, again: { readonly id: string; readonly restored: object }): Promise<unknown>
  replace(call: Call, id: string, request: object, setBack: SetBack<Resource>): Promise<unknown>
  delete(call: Call, id: string, judge: (before: RecordOf<Resource>) => void): Promise<void>
}

/** The operations on entities, and trying them out. */
interface UndoPorts {
  of(resource: Resource): UndoneEntities
  simulate(changes: readonly SimulatedChange[], page?: SimulationPage): Promise<SimulationResult>
}
type AuditRecord = RecordOf<typeof auditRecords>

/** The tag of a plan. An empty tag matches no plan. */
const Tag = z.string().max(64)
const TYPES = ['entity.created', 'entity.updated', 'entity.deleted'] as const
/** The operations by which an action is done. */
const OPERATIONS = { create: 'create', update: 'replace', delete: 'delete' } as const
/** The kinds that decide access. A caller that may read all of them gets the identities that gain and lose access. */
const DECIDING = ['identities', 'services', 'service-policies'] as const
/** Pairs that a plan names. */
const MOST_PAIRS = 50
/** Later changes of an entity that a plan looks at; beyond them the entity counts as changed. */
const MOST_LATER = 1000

/** The kinds of entity that vouch for identities, with the fields that decide whether they may vouch for identities with rights. */
const TRUST: ReadonlyMap<string, NonNullable<UndoneKind['trust']>> = new Map([
  [cas.name, { field: 'mayAuthenticateAdmins', decisive: DECISIVE_OF_CAS }],
  [
    externalJwtSigners.name,
    { field: 'mayAuthenticateAdmins', decidedBy: 'decidedById', decisive: DECISIVE_OF_SIGNERS },
  ],
])

/** A change to be undone, with the entity as it is now. */
interface Found {
  readonly record: AuditRecord & { readonly entityId: string }
  readonly resource: Resource
  readonly now: RecordOf<Resource> | undefined
  readonly plan: Undoing
  readonly entity: UndoPlan['entity']
  readonly tag: string
}

/**
 * Undoes changes that the audit trail records, after planning them. It makes the requests that any caller would make,
 * under the same rules. Later changes are kept.
 */
export class ChangeUndo {
  readonly #context: EngineContext
  readonly #ports: UndoPorts

  constructor(context: EngineContext, ports: UndoPorts) {
    this.#context = context
    this.#ports = ports
  }

  /**
   * Plans how to undo the change of an audit record in the network as it is now. Nothing is written.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such record, the caller may not read it, or it holds no change.
   */
  async plan(call: Call, recordId: string): Promise<UndoPlan> {
    return this.#planned(call, await this.#found(call, recordId))
  }

  /**
   * Undoes the change of an audit record by the plan with the tag `tag`, which is compared with the entity within the write.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE (`If-Match`) when the entity was changed since the plan was made,
   *   (`id`) when nothing can be done; or when the request would be refused to any caller.
   * @throws {ControllerError} NOT_FOUND as for the plan.
   */
  async apply(call: Call, recordId: string, tag: string): Promise<UndoPlan> {
    readValue('tag', Tag, tag)
    const found = await this.#found(call, recordId)
    const { plan, resource, record, now } = found
    if (tag !== found.tag) throw changedMeanwhile(tag)
    const planned = await this.#planned(call, found)
    if (plan.action === null) throw invalidField('id', planned.text, recordId)
    const entities = this.#ports.of(resource)
    const by = { ...call, undoes: { record: recordId, kind: resource.name, entityId: record.entityId } }
    const judge = (before: RecordOf<Resource>) => {
      if (this.#tagOf(record.id, resource, before) !== tag) throw changedMeanwhile(tag)
    }
    // The schema of the request reads the body, as it reads that of any other caller.
    if (plan.action === 'create') {
      const again = { id: record.entityId, restored: plan.system }
      await entities.create(by, bodyOf(resource, plan, undefined), again)
    } else if (plan.action === 'update') {
      await entities.replace(by, record.entityId, bodyOf(resource, plan, now), { restored: plan.system, judge })
    } else {
      await entities.delete(by, record.entityId, judge)
    }
    return { ...planned, text: undoText(planned, true) }
  }

  async #found(call: Call, recordId: string): Promise<Found> {
    readId(recordId, 'recordId')
    return this.#context.storage.read(async (tx) => {
      const record = await tx.collection(auditRecords).get(recordId)
      const type = TYPES.find((one) => one === record?.type)
      const resource = RESOURCES.find(({ name }) => name === record?.kind)
      if (!isOfEntity(record) || type === undefined || resource === undefined || !mayReadRecord(call, record))
        throw notFound('change of an entity', recordId)
      const [entry] = await auditEntries(tx, call, [record])
      const now = await tx.collection(resource).get(record.entityId)
      const kind = kindOf(resource)
      const later = kind.trust === undefined ? [] : await laterChanges(tx, record)
      const told = { type, changes: record.content.changes ?? {}, later: later ?? [] }
      const undone = undoing(told, kind, now, isAdminCall(call))
      const plan = offered(resource, later === undefined ? TOO_MUCH_SINCE : undone)
      const entity = { kind: resource.name, id: record.entityId, name: entry?.entity?.name ?? null }
      return { record, resource, now, plan, entity, tag: this.#tagOf(recordId, resource, now) }
    })
  }

  async #planned(call: Call, found: Found): Promise<UndoPlan> {
    const { plan, entity, record, resource, tag } = found
    const { access = null, refusal = null } = await this.#difference(call, found)
    const { action, obstacle, trust } =
      refusal === null ? plan : ({ ...plan, action: null, obstacle: 'refused' } as const)
    const isShown = ({ field }: { readonly field: string }) => isAdminCall(call) || isShownOf(resource, field)
    const [fields, left] = [plan.fields.filter(isShown), plan.left.filter(isShown)]
    const planned = { record: record.id, action, obstacle, fields, left, trust, entity, refusal, access, tag }
    return { ...planned, text: undoText(planned, false) }
  }

  /** The access that identities would gain and lose, or the reason for which the controller would refuse the change. */
  async #difference(call: Call, found: Found): Promise<Partial<Pick<UndoPlan, 'access' | 'refusal'>>> {
    const isDeciding = DECIDING.some((kind) => kind === found.resource.name)
    const mayKnow = RESOURCES.every(
      ({ name, definition }) => !DECIDING.some((kind) => kind === name) || mayRead(call, definition.permission),
    )
    if (found.plan.action === null || !isDeciding || !mayKnow) return {}
    try {
      const { counts, pairs } = await this.#ports.simulate([simulated(found)], { limit: MOST_PAIRS })
      if (counts === null) return {}
      const [gained, lost] = [counts.dial.gained + counts.bind.gained, counts.dial.lost + counts.bind.lost]
      return { access: { gained, lost, pairs } }
    } catch (error) {
      if (!(error instanceof ControllerError)) throw error
      const { field } = error.details ?? {}
      return { refusal: field === undefined ? error.message : `${field}: ${error.message}` }
    }
  }

  #tagOf(recordId: string, resource: Resource, now: RecordOf<Resource> | undefined): string {
    const { writable, createOnly, system } = kindOf(resource)
    const decided = [...system].flatMap(([field, how]) => (how === 'decided' ? [field] : []))
    const settable = now && [...writable, ...createOnly, ...decided].map((field) => now[field] ?? null)
    return this.#context.digest.sha256(canonicalJson([recordId, settable ?? null])).slice(0, 32)
  }
}

function changedMeanwhile(tag: string): ControllerError {
  return invalidField('If-Match', 'it was changed since the plan was made: plan it again', tag)
}

function isOfEntity(record: AuditRecord | undefined): record is Found['record'] {
  return typeof record?.entityId === 'string'
}

const TOO_MUCH_SINCE: Undoing = {
  action: null,
  obstacle: 'changed-since',
  fields: [],
  left: [],
  system: {},
  trust: null,
}

/** The later changes of the entity, in order; undefined where there are too many. */
async function laterChanges(tx: ReadTransaction, { id, kind, entityId }: Found['record']) {
  const records = await recordsAfter(tx, id, MOST_LATER + 1, equals('entityId', entityId))
  if (records.length > MOST_LATER) return undefined
  return records.filter((record) => record.kind === kind).map(({ content }) => content.changes ?? {})
}

/** The right to read an entity covers its shown fields, and whether it is trusted. */
function isShownOf({ name, definition: { hidden = [] } }: Resource, field: string): boolean {
  return !hidden.includes(field) || TRUST.get(name)?.field === field
}

function kindOf({ name, definition, fields, defaults }: Resource): UndoneKind {
  const trust = TRUST.get(name)
  const system = Object.keys(definition.system ?? {}).map(
    (field) => [field, definition.undo?.[field] ?? 'fact'] as const,
  )
  const writable = [...Object.keys(definition.writable), 'tags']
  const sets = new Set(Object.keys(definition.writable).filter((field) => fields[field] === 'set'))
  const createOnly = Object.keys(definition.createOnly ?? {})
  return { writable, createOnly, system: new Map(system), sets, defaults, ...(trust && { trust }) }
}

/** The plan, where the API has an operation for it. */
function offered({ definition: { operations } }: Resource, plan: Undoing): Undoing {
  const operation: StandardOperation | undefined = plan.action === null ? undefined : OPERATIONS[plan.action]
  if (operation === undefined || operations.includes(operation)) return plan
  return { ...plan, action: null, obstacle: 'not-offered', fields: [] }
}

/** The request that makes the entity, or replaces it, in the words of the wire. */
function bodyOf(resource: Resource, { fields }: Undoing, now: RecordOf<Resource> | undefined): Record<string, unknown> {
  const { definition, defaults, fields: kinds } = resource
  const { writable, createOnly } = kindOf(resource)
  const spelled = (field: string, value: unknown) =>
    kinds[field] === 'instant' && typeof value === 'number' ? instantText(value) : value
  const base = now === undefined ? [...writable, ...createOnly].map((field) => [field, defaults[field]]) : []
  const kept = now === undefined ? [] : writable.map((field) => [field, now[field]])
  const settable = [...writable, ...createOnly]
  const restored = fields.filter(({ field }) => settable.includes(field)).map((one) => [one.field, one.restored])
  const values = Object.fromEntries([...base, ...kept, ...restored])
  const sent = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(sent.map(([field, value]) => [inputName(definition, field), spelled(field, value)]))
}

function simulated({ resource, record, plan, now }: Found): SimulatedChange {
  const change = { kind: resource.name, id: record.entityId, action: plan.action }
  if (plan.action === 'delete') return change as SimulatedChange
  const body = plan.action === 'create' ? bodyOf(resource, plan, undefined) : bodyOf(resource, plan, now)
  // It has the members that a request of this kind takes, which the simulation reads by their schema.
  return { ...change, body } as SimulatedChange
}
