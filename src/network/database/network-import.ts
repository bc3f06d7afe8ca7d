import { z } from 'zod'
import { ControllerError, invalidField } from '../../base/errors.ts'
import { isMap } from '../../base/members.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { BUILT_IN_CONFIG_TYPES } from '../../facts/configs/config-types.rules.ts'
import { readCreate } from '../../facts/resources/entity-requests.ts'
import { RESOURCES } from '../../facts/resources/index.ts'
import { inputName } from '../../kernel/declaration/quirks.ts'
import type { BaseRecord, RecordOf, Resource } from '../../kernel/declaration/resource.ts'
import { validate } from '../../kernel/declaration/validation.ts'
import { compareStrings } from '../../kernel/filter/index.ts'
import type { WriteTransaction } from '../../ports/record-storage.ts'
import { collectionOf, findOne } from '../../records/read-records.ts'
import { refusingDuplicates } from '../../records/references.ts'
import { writeEachInParts } from '../../records/write-batches.ts'

/** Counts of the entities of one resource, by how each was imported. */
export interface ImportedCounts {
  readonly resource: string
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/** The outcome of an import, or of a dry run. */
export interface ImportReport {
  readonly counts: readonly ImportedCounts[]
  /** Omissions and their reasons, one line each. */
  readonly notes: readonly string[]
}

/** Choices about data that other controllers do not show. */
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

/** Records after which progress is reported. */
const RECORDS_PER_REPORT = 200

/**
 * Imports the network of another controller, with its ids. An entity whose id exists already is brought level with it,
 * so an interrupted import is simply repeated.
 */
export class NetworkImport {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Writes the entities, referenced entities first. Errors: `COULD_NOT_VALIDATE` with the entity and the field for a
   * value that no record can hold, and for a name that another entity has.
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
    for (let from = 0; from < records.length; from += RECORDS_PER_REPORT) {
      const batch = records.slice(from, from + RECORDS_PER_REPORT)
      await this.#write(batch, async (tx, { resource, record }) => {
        const count = counts.get(resource.name) ?? { created: 0, updated: 0, unchanged: 0 }
        counts.set(resource.name, count)
        count[await put(tx, resource, record, { dryRun, now })]++
      })
      onProgress?.({ done: Math.min(from + RECORDS_PER_REPORT, records.length), total: records.length })
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
      // The operator who holds the store decided to import them.
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
    // Where the other controller gives no instants, those of the first import stay.
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

/**
 * The authenticator of another controller as a record, or the reason for leaving it out. No controller shows the verifiers of passwords.
 * A certificate that leads to this network's own authority can be extended here; one of a third party belongs to that party.
 */
async function importedCredential(
  { pki }: EngineContext,
  record: RecordOf<Resource>,
  entities: readonly ImportedEntity[],
  now: number,
): Promise<RecordOf<Resource> | string> {
  const { id, identityId, method, username } = record
  if (method !== 'cert')
    return `the password of ${String(username)} (identity ${String(identityId)}) is not shown: set a new one`
  const certificates = await pki.readCertificates(String(record.certPem))
  const [leaf] = typeof certificates === 'string' ? [] : certificates
  if (typeof certificates === 'string' || leaf === undefined)
    return `the certificate of authenticator ${id} cannot be read`
  const chain = certificates.map(({ der }) => der)
  const own = await pki.verifyClientChain(chain, now)
  const authorities = entities
    .filter(({ resource, entity }) => resource === 'cas' && entity.isVerified === true)
    .map(({ entity }) => ({ id: String(entity.id), certPem: String(entity.certPem) }))
  const party = own.trusted ? undefined : await pki.verifyThirdPartyChain(chain, authorities, now)
  return {
    ...record,
    certPem: leaf.pem,
    fingerprint: leaf.fingerprint,
    isIssuedByNetwork: own.trusted,
    caId: party?.trusted === true ? party.authorityId : null,
  }
}

/** An entity as another controller shows it. */
export interface ImportedEntity {
  /** The name of its resource, as `service-policies`. */
  readonly resource: string
  /** The entity as the management API of the other controller answers it, its id included. */
  readonly entity: Readonly<Record<string, unknown>>
}

type Members = Readonly<Record<string, unknown>>

/**
 * The record of an entity that another controller shows, under its own id. Its writable members are read as a request to create it is;
 * the controller's own members are taken over by its declaration. Error: `COULD_NOT_VALIDATE` with the field.
 */
function importedRecord(resource: Resource, shown: Members, now: number): BaseRecord & Members {
  const { definition } = resource
  const written = readCreate(resource, requestOf(resource, shown))
  const asked = Object.keys(definition.createRequest ?? {})
  const fields = Object.entries(written).filter(([field]) => !asked.includes(field))
  const record = {
    ...Object.fromEntries(fields),
    ...systemFields(resource, shown),
    id: String(shown.id),
    createdAt: instantOf(shown.createdAt, now),
    updatedAt: instantOf(shown.updatedAt, now),
    tags: isMap(shown.tags) ? shown.tags : {},
  }
  return withSortedSets(resource, record)
}

function requestOf({ definition }: Resource, shown: Members): Members {
  const fields = Object.keys({ ...definition.writable, ...definition.createOnly })
  const sent = fields.flatMap((field) => {
    const value = shown[field]
    return value === undefined || value === null ? [] : [[inputName(definition, field), value] as const]
  })
  return Object.fromEntries(sent)
}

/** A member that is not shown gets the value that a new entity has. */
function systemFields({ definition, defaults }: Resource, shown: Members): Members {
  const fields = Object.entries(definition.system ?? {}).map(([field, schema]) => {
    const value = shown[field]
    if (value === undefined || value === null) return [field, defaults[field]] as const
    return [
      field,
      Reflect.get(Object(validate(z.object({ [field]: schema }), { [field]: value }, 'input')), field),
    ] as const
  })
  return Object.fromEntries(fields)
}

/** Other controllers write the beginning of time for an unknown instant. */
function instantOf(value: unknown, now: number): number {
  const instant = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(instant) && instant > 0 ? instant : now
}

function withSortedSets<R extends Members>({ fields }: Resource, record: R): R {
  const sorted = Object.entries(record).map(([field, value]) => [
    field,
    fields[field] === 'set' && Array.isArray(value) ? [...new Set(value.map(String))].sort(compareStrings) : value,
  ])
  // The same members, with sets as they are kept.
  return Object.fromEntries(sorted) as R
}
