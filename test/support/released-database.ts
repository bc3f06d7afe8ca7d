import { type CompiledQuery, type Dialect, CompiledQuery as Query } from 'kysely'
import { kyselyStorage } from 'portcullis/kysely'
import { RECORD_KINDS, type RecordKind, type StoredRecord } from 'portcullis/storage'
import { watchedDialect } from './watched-dialect.ts'

/** A database as a released version made it: every statement that changed it, and the records that it held. */
export interface ReleasedDatabase {
  readonly statements: readonly Pick<CompiledQuery, 'sql' | 'parameters'>[]
  readonly records: readonly (StoredRecord & { readonly kind: string })[]
}

const READS_AND_FRAMES = /^(select|begin|commit|rollback|savepoint|release)\b/

/** Makes a database with one record of each kind, and notes how. */
export async function recordDatabase(dialect: () => Dialect): Promise<ReleasedDatabase> {
  const statements: Pick<CompiledQuery, 'sql' | 'parameters'>[] = []
  const watched = () =>
    watchedDialect(dialect(), ({ sql, parameters }) => {
      if (!READS_AND_FRAMES.test(sql)) statements.push({ sql, parameters })
    })
  const storage = await kyselyStorage({ dialect: watched })
  const records = RECORD_KINDS.map((kind) => ({ kind: kind.name, ...sample(kind) }))
  await storage.write(async (tx) => {
    for (const { kind, ...record } of records) {
      const declared = RECORD_KINDS.find(({ name }) => name === kind)
      if (declared !== undefined) await tx.collection(declared).insert(record)
    }
  })
  await storage.close()
  return { statements, records }
}

/** Makes the same database again, with none of today's code but the driver. */
export async function replayDatabase(dialect: Dialect, { statements }: ReleasedDatabase): Promise<void> {
  const driver = dialect.createDriver()
  await driver.init()
  const connection = await driver.acquireConnection()
  for (const { sql, parameters } of statements) await connection.executeQuery(Query.raw(sql, [...parameters]))
  await driver.releaseConnection(connection)
  await driver.destroy()
}

function sample({ name, fields, unique, defaults = {} }: RecordKind): StoredRecord {
  const values = Object.entries(fields).map(([field, kind]) => {
    if (kind === 'set') return [field, ['blue', 'grün']]
    if (field === 'tags') return [field, { site: 'north', nested: { floor: 3 } }]
    if (unique.includes(field) && kind === 'string') return [field, `${name} ${field}`]
    if (kind === 'instant') return [field, 1_700_000_000_000]
    return [field, defaults[field] ?? (kind === 'string' ? 'Text' : null)]
  })
  return { id: `the ${name}`, ...Object.fromEntries(values) }
}
