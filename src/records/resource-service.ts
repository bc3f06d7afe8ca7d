import { z } from 'zod'
import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { isMap } from '../base/members.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { missingAsDeployed, readCreate, readPatch, readReplace } from '../facts/resources/entity-requests.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf } from '../facts/resources/wire-forms.ts'
import { required } from '../kernel/declaration/fields.ts'
import { readId } from '../kernel/declaration/read-body.ts'
import type { CreateOf, PatchOf, RecordOf, Resource, StandardOperation } from '../kernel/declaration/resource.ts'
import { compareStrings } from '../kernel/filter/index.ts'
import type { FindQuery, Page, WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour, PendingRequest, Restored } from './behaviour.ts'
import { deleteBatch, endReasonsOf } from './deletion.ts'
import { keepOwnerQuota } from './owner-quota.ts'
import { collectionOf, newRecord, readToDelete } from './read-records.ts'
import { checkReferences, checkRoleLists, refuseDuplicates, refusingDuplicates } from './references.ts'
import { MORE, type WriteBatch, writeInBatches } from './write-batches.ts'

type Change<R> = Extract<PendingRequest<R>, { readonly kind: 'replace' | 'patch' }>

/** The parts of an undo that a request cannot express. */
export interface SetBack<R> {
  /** Former values of fields that no request sets. */
  readonly restored?: Restored<R> | undefined
  /** Called within the write with the entity before the change; throws when the entity is not as the caller expects. */
  readonly judge?: (before: RecordOf<R>) => void
}

/**
 * Creates, reads, changes and deletes the entities of one resource by the rules of its declaration. Every change is
 * atomic and checked inside its transaction: names are unique, references and role lists name existing entities.
 *
 * Errors: `NOT_FOUND` for an unknown id, `COULD_NOT_VALIDATE` with the field, `CAN_NOT_DELETE_REFERENCED_ENTITY`, `METHOD_NOT_ALLOWED` for
 * operations that the APIs do not offer for the resource.
 */
export class ResourceService<R extends Resource> {
  /** The resource whose entities it creates, reads, changes and deletes. */
  readonly resource: R
  readonly #context: EngineContext
  readonly #behaviour: Behaviour<R>

  constructor(context: EngineContext, behaviour: Behaviour<R>) {
    this.resource = behaviour.resource
    this.#context = context
    this.#behaviour = behaviour
  }

  /** The entity with an id. */
  async get(id: string): Promise<RecordOf<R>> {
    readId(id)
    const record = await this.#context.storage.read((tx) => collectionOf(tx, this.resource).get(id))
    return this.#found(record, id)
  }

  /** A page of the entities that match a query; all entities without a query. */
  find(query: FindQuery = {}): Promise<Page<RecordOf<R>>> {
    return this.#context.storage.read((tx) => collectionOf(tx, this.resource).find(query))
  }

  /**
   * Creates an entity from a request body of the API, with the same defaults and the same refusals. Instants of the answer are epoch
   * milliseconds. A deleted entity is made `again` under its id, unless the id is taken, with the former values of fields that no request
   * sets.
   *
   * @example
   * const { id } = await controller.engine.services.create(SYSTEM_CALL, { name: 'web', roleAttributes: ['apps'] })
   */
  async create(
    call: Call,
    request: CreateBodyOf<R>,
    again?: { readonly id: string; readonly restored: Restored<R> },
  ): Promise<RecordOf<R>> {
    this.#requireOffered('create')
    const input = readCreate(this.resource, request)
    this.#requireAsDeployed(request)
    const now = this.#context.clock.now()
    const id = again?.id ?? this.#context.random.id()
    const restored = again?.restored
    const preparation = await this.#behaviour.prepare?.(this.#context, call, {
      kind: 'create',
      id,
      input,
      now,
      restored,
    })
    const system = { ...this.#emptySystemFields(), ...preparation?.system, ...restored }
    const fields = { ...this.#withoutRequestOnly(input), ...system }
    const draft = this.#record(newRecord(id, now, fields))
    const work = async (tx: WriteTransaction) => {
      const isTaken = again !== undefined && (await collectionOf(tx, this.resource).get(id)) !== undefined
      if (isTaken) throw invalidField('id', `there is a ${this.resource.definition.singular} with it`, id)
      const record = await this.#checked(tx, call, undefined, draft, restored)
      await keepOwnerQuota(this.#context, tx, this.resource, record)
      await collectionOf(tx, this.resource).insert(record)
      await preparation?.dependents?.(tx)
      return record
    }
    return refusingDuplicates(this.resource, () => this.#context.writes.run(call, work))
  }

  /**
   * Replaces every writable field; fields that the request leaves out take their defaults. With `setBack`, fields that no request sets take
   * their former values too.
   */
  async replace(call: Call, id: string, request: ReplaceBodyOf<R>, setBack?: SetBack<R>): Promise<RecordOf<R>> {
    this.#requireOffered('replace')
    readId(id)
    const input = readReplace(this.resource, request)
    return this.#update(call, { kind: 'replace', id, input, now: this.#context.clock.now() }, setBack)
  }

  /** Changes only the fields that the request holds. */
  async patch(call: Call, id: string, request: PatchBodyOf<R>): Promise<RecordOf<R>> {
    this.#requireOffered('patch')
    readId(id)
    const input = readPatch(this.resource, request)
    return this.#update(call, { kind: 'patch', id, input, now: this.#context.clock.now() })
  }

  /**
   * Deletes an entity with all records that cannot exist without it. Many records take several writes, so that other writers do not wait.
   * The entity exists until the last write, and may be deleted again. `judge` is called within the write with the entity, and throws when
   * the entity is not as the caller expects.
   */
  async delete(call: Call, id: string, judge?: (before: RecordOf<R>) => void): Promise<void> {
    this.#requireOffered('delete')
    readId(id)
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const known = await readToDelete(call, () => collectionOf(tx, this.resource).get(id))
      const before = this.#found(known, id)
      judge?.(before)
      const change = { kind: 'delete', before } as const
      await this.#behaviour.guard?.(this.#context, tx, call, change)
      batch.intend({ operation: 'delete', kind: this.resource.name, id, before })
      if ((await this.#behaviour.beforeWrite?.(tx, change, batch)) === MORE) return MORE
      return deleteBatch(tx, this.resource, id, batch)
    }
    await writeInBatches(this.#context, call, work, endReasonsOf(this.resource))
  }

  async #update(call: Call, request: Change<R>, { restored, judge }: SetBack<R> = {}): Promise<RecordOf<R>> {
    const { kind, id, input, now } = request
    const preparation = await this.#behaviour.prepare?.(this.#context, call, request)
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const before = this.#found(await collectionOf(tx, this.resource).get(id), id)
      judge?.(before)
      const changed = kind === 'replace' ? { ...before, ...input } : this.#patched(before, input)
      const draft = this.#record({ ...changed, ...preparation?.system, ...restored, updatedAt: now })
      const record = await this.#checked(tx, call, before, draft, restored)
      batch.intend({ operation: 'update', kind: this.resource.name, id, before, after: record })
      if ((await this.#behaviour.beforeWrite?.(tx, { kind: 'update', before, after: record }, batch)) === MORE) {
        await refuseDuplicates(tx, this.resource, record, before)
        return MORE
      }
      await collectionOf(tx, this.resource).update(record)
      await preparation?.dependents?.(tx)
      return record
    }
    return refusingDuplicates(this.resource, () => writeInBatches(this.#context, call, work))
  }

  /** The record with the changes of a patch, and without the fields that the patch clears by leaving them out. */
  #patched(before: RecordOf<R>, patch: PatchOf<R>): RecordOf<R> {
    const { clearedUnlessSent = [] } = this.resource.definition.quirks ?? {}
    // An empty object counts as sent: it changes nothing.
    const unsent = clearedUnlessSent.filter((field) => (Reflect.get(patch, field) ?? null) === null)
    const isCleared = this.#context.settings.profile.clearsUnsentClaims
    const cleared = isCleared ? Object.fromEntries(unsent.map((field) => [field, null])) : {}
    return { ...mergePatch(this.resource, before, patch), ...cleared }
  }

  async #checked(
    tx: WriteTransaction,
    call: Call,
    before: RecordOf<R> | undefined,
    draft: RecordOf<R>,
    restored: Restored<R> | undefined,
  ): Promise<RecordOf<R>> {
    if (typeof draft.name === 'string' && draft.name.trim() === '') throw invalidField('name', 'name is required', '')
    const change =
      before === undefined
        ? ({ kind: 'create', after: draft, restored } as const)
        : ({ kind: 'update', before, after: draft, restored } as const)
    const guarded = await this.#behaviour.guard?.(this.#context, tx, call, change)
    const record = guarded === undefined ? draft : this.#record(guarded)
    await checkRoleLists(tx, this.resource, record, before)
    await checkReferences(tx, this.resource, record, before)
    return record
  }

  #requireOffered(operation: StandardOperation): void {
    if (!this.resource.definition.operations.includes(operation)) throw new ControllerError('METHOD_NOT_ALLOWED')
  }

  #requireAsDeployed(request: CreateBodyOf<R>): void {
    if (!this.#context.settings.profile.requiresDeployedMembers) return
    const missing = missingAsDeployed(this.resource, request)
    if (missing !== undefined) throw invalidField(missing, `${missing} in body is required`, '<nil>')
  }

  #found(record: RecordOf<R> | undefined, id: string): RecordOf<R> {
    if (record === undefined) throw notFound(this.resource.definition.singular, id)
    return record
  }

  #emptySystemFields(): Record<string, unknown> {
    const { defaults, definition } = this.resource
    return Object.fromEntries(Object.keys(definition.system ?? {}).map((field) => [field, defaults[field]]))
  }

  #withoutRequestOnly(input: CreateOf<R>): Record<string, unknown> {
    const requestOnly = Object.keys(this.resource.definition.createRequest ?? {})
    return Object.fromEntries(Object.entries(input).filter(([field]) => !requestOnly.includes(field)))
  }

  /** Sets are kept sorted and without duplicates. The declaration guarantees the rest of the record's type. */
  #record(fields: object): RecordOf<R> {
    const entries = Object.entries(fields).map(([field, value]) => [
      field,
      this.resource.fields[field] === 'set' && Array.isArray(value) ? sortedSet(value) : value,
    ])
    return Object.fromEntries(entries) as RecordOf<R>
  }
}

function sortedSet(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort(compareStrings)
}

/**
 * The record with the sent fields changed. A nested object with fixed members is merged member by member; maps and lists are replaced
 * whole. Null and absent members change nothing. Neither does an empty object with fixed members: generated clients send it for members
 * that they do not change.
 */
export function mergePatch<R extends Resource>(resource: R, before: RecordOf<R>, patch: object): RecordOf<R> {
  return { ...before, ...mergeMembers(resource.definition.writable, before, { ...patch }) }
}

function mergeMembers(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  before: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const sent = Object.entries(patch).filter(([member, value]) => isSent(shape[member], value))
  return Object.fromEntries(sent.map(([member, value]) => [member, merged(shape[member], before[member], value)]))
}

/** Reports whether a member of a patch says anything. */
function isSent(schema: z.core.$ZodType | undefined, value: unknown): boolean {
  if (value === undefined || value === null) return false
  const inner = schema instanceof z.ZodType ? required(schema) : undefined
  if (!(inner instanceof z.ZodObject) || !isMap(value)) return true
  return Object.entries(value).some(([member, inside]) => isSent(inner.shape[member], inside))
}

function merged(schema: z.core.$ZodType | undefined, before: unknown, value: unknown): unknown {
  const inner = schema instanceof z.ZodType ? required(schema) : undefined
  if (!(inner instanceof z.ZodObject) || !isMap(before) || !isMap(value)) return value
  return { ...before, ...mergeMembers(inner.shape, before, value) }
}
