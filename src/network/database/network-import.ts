import { BUILT_IN_CONFIG_TYPES } from '../../../domain/config-types/index.ts'
import { ControllerError, invalidField } from '../../../domain/errors.ts'
import type { WriteTransaction } from '../../../ports/storage.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import { RESOURCES } from '../../../resources/index.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { collectionOf } from '../../records/collection-of.ts'
import { findOne } from '../../records/find-one.ts'
import { writeEachInParts } from '../../records/parts.ts'
import { refusingDuplicates } from '../../records/unique-fields.ts'
import { importedCredential } from './imported-credential.ts'
import type { ImportedEntity } from './imported-entity.ts'
import { importedRecord } from './imported-record.ts'

/** What became of the entities of one resource. */
export interface ImportedCounts {
  readonly resource: string
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/** What an import did, or would do. */
export interface ImportReport {
  readonly counts: readonly ImportedCounts[]
  /** What was left out and why, one line each. */
  readonly notes: readonly string[]
}

/** What is stored besides what other controllers show. */
export interface ImportOptions {
  /** Writes nothing. */
  readonly dryRun?: boolean
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void
}

/** A record that is to be stored. */
interface Imported {
  readonly resource: Resource
  readonly record: RecordOf<Resource>
}

/** Records after which progress is told. */
const BATCH = 200

/**
 * Takes over the network of another controller, with the ids that it has there. What is there already under an id is brought
 * level with it, so that an import which was interrupted is simply done again.
 */
export class NetworkImport {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Writes the entities, those that others refer to first. Errors: `COULD_NOT_VALIDATE` with the entity and the field for
   * what no record can hold, and for a name that another entity has.
   */
  async run(
    entities: readonly ImportedEntity[],
    { dryRun = false, onProgress }: ImportOptions = {},
  ): Promise<ImportReport> {
    const now = this.#context.clock.now()
    const notes: string[] = []
    const records: Imported[] = []
    for (const resource of RESOURCES) {
      for (const { entity } of entities.filter((one) => one.resource === resource.name)) {
        const read = await this.#read(resource, entity, entities, now)
        if (typeof read === 'string') notes.push(read)
        else records.push({ resource, record: read })
      }
    }
    const counts = new Map<string, { created: number; updated: number; unchanged: number }>()
    for (let from = 0; from < records.length; from += BATCH) {
      const batch = records.slice(from, from + BATCH)
      await this.#write(batch, async (tx, { resource, record }) => {
        const count = counts.get(resource.name) ?? { created: 0, updated: 0, unchanged: 0 }
        counts.set(resource.name, count)
        count[await put(tx, resource, record, { dryRun, now })]++
      })
      onProgress?.({ done: Math.min(from + BATCH, records.length), total: records.length })
    }
    return { counts: [...counts].map(([resource, count]) => ({ resource, ...count })), notes }
  }

  async #write(
    batch: readonly Imported[],
    work: (tx: WriteTransaction, one: Imported) => Promise<void>,
  ): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    await refusingDuplicates(first.resource, () => writeEachInParts(this.#context, SYSTEM_CALL, batch, work))
  }

  async #read(
    resource: Resource,
    entity: ImportedEntity['entity'],
    entities: readonly ImportedEntity[],
    now: number,
  ): Promise<RecordOf<Resource> | string> {
    const subject = `${resource.definition.singular} ${String(entity.name ?? entity.id)}`
    try {
      const record = importedRecord(resource, entity, now)
      if (resource.name === 'authenticators') return await importedCredential(this.#context, record, entities, now)
      if (resource.name === 'auth-policies') return { ...record, isSystem: record.id === 'default' }
      // Whoever holds the store decided to take them over.
      if ('mayAuthenticateAdmins' in resource.fields) return { ...record, mayAuthenticateAdmins: true }
      return record
    } catch (error) {
      if (!(error instanceof ControllerError)) throw error
      throw invalidField(error.details?.field ?? resource.name, `${subject}: ${error.message}`, entity.id)
    }
  }
}

type Outcome = 'created' | 'updated' | 'unchanged'

async function put(
  tx: WriteTransaction,
  resource: Resource,
  record: RecordOf<Resource>,
  { dryRun, now }: { readonly dryRun: boolean; readonly now: number },
): Promise<Outcome> {
  const collection = collectionOf(tx, resource)
  const known = await collection.get(record.id)
  if (known !== undefined) {
    // Where the other controller tells no instants, those of the first import stay.
    const instants = record.createdAt === now ? { createdAt: known.createdAt, updatedAt: known.updatedAt } : {}
    const changed = { ...known, ...record, ...instants }
    if (isSame(known, changed)) return 'unchanged'
    if (!dryRun) await collection.update(changed)
    return 'updated'
  }
  if (dryRun) return 'created'
  // A new store has config types of its own; those of the network take their place.
  if (resource.name === 'config-types') {
    const own = await findOne(tx, resource, 'name', String(record.name))
    if (own !== undefined && BUILT_IN_CONFIG_TYPES.some(({ id }) => id === own.id)) await collection.delete(own.id)
  }
  await collection.insert(record)
  return 'created'
}

function isSame(known: object, record: object): boolean {
  return Object.entries(record).every(
    ([field, value]) => JSON.stringify(Reflect.get(known, field)) === JSON.stringify(value),
  )
}
