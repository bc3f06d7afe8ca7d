import type { GivenOptions } from '../command-line/options.ts'
import { UsageError } from '../command-line/usage.ts'
import { DEFAULT_STORAGE, type STORAGE_OPTIONS, withoutPasswords } from '../input/open-storage.ts'
import type { Finding } from './examine-certificates.ts'

/** The settings and the standbys of a server, as a connection of the storage sees them. */
interface ServerSettings {
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly synchronousStandbys: string
  readonly logHints: string
  readonly checksums: string
  readonly lockTimeout: string
  readonly idleTimeout: string
  /** How many servers take its changes over. */
  readonly standbys: number
}

const QUESTION = `select current_setting('fsync') as "fsync", current_setting('full_page_writes') as "fullPageWrites",
  current_setting('synchronous_commit') as "synchronousCommit",
  current_setting('synchronous_standby_names') as "synchronousStandbys",
  current_setting('wal_log_hints') as "logHints", current_setting('data_checksums') as "checksums",
  current_setting('lock_timeout') as "lockTimeout",
  current_setting('idle_in_transaction_session_timeout') as "idleTimeout",
  (select count(*)::int from pg_stat_replication) as "standbys"`

/**
 * Examines the settings by which a PostgreSQL server keeps acknowledged writes, and by which a failover loses nothing. Another storage has
 * no findings. Throws {@link UsageError} when the server is not reached.
 */
export async function examinePostgres(
  options: GivenOptions<keyof typeof STORAGE_OPTIONS>,
): Promise<readonly Finding[]> {
  const { name, value: url } = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  if (!/^postgres(ql)?:/.test(url)) return []
  try {
    const findings = findingsOf(await settingsOf(url))
    const ok = { level: 'ok', about: 'database', text: 'the server keeps what it acknowledged' } as const
    return findings.length > 0 ? findings : [ok]
  } catch (error) {
    throw new UsageError(`${name} postgres: ${withoutPasswords(error)}`, { cause: error })
  }
}

async function settingsOf(url: string): Promise<ServerSettings> {
  const { postgresDialect } = await import('../../../storage/kysely/index.ts')
  const { CompiledQuery } = await import('kysely')
  const driver = (await postgresDialect({ connection: url }))().createDriver()
  await driver.init()
  try {
    const connection = await driver.acquireConnection()
    const { rows } = await connection.executeQuery<ServerSettings>(CompiledQuery.raw(QUESTION))
    await driver.releaseConnection(connection)
    const [settings] = rows
    if (settings === undefined) throw new Error('the server answered nothing')
    return settings
  } finally {
    await driver.destroy()
  }
}

function findingsOf(settings: ServerSettings): readonly Finding[] {
  const { standbys, synchronousStandbys, synchronousCommit } = settings
  const isFailedOver = standbys > 0 || synchronousStandbys !== ''
  const isLocal = synchronousCommit === 'off' || (isFailedOver && synchronousCommit === 'local')
  const found: readonly (readonly [boolean, Finding['level'], string])[] = [
    [
      settings.fsync === 'off',
      'wrong',
      'fsync is off: a server that loses power loses what it acknowledged, or all of it',
    ],
    [settings.fullPageWrites === 'off', 'warning', 'full_page_writes is off: a server that loses power may be damaged'],
    [isLocal, 'wrong', `synchronous_commit is ${synchronousCommit}: a server that fails loses what it acknowledged`],
    [
      standbys > 0 && synchronousStandbys === '',
      'warning',
      'synchronous_standby_names is empty: a failover loses what no standby has yet (synchronous_mode of Patroni)',
    ],
    [
      synchronousStandbys !== '' && standbys < 2,
      'warning',
      `it has ${standbys === 0 ? 'no standby' : 'one standby'}: nothing is written while that is away, or it is lost; three members are asked for`,
    ],
    [
      isFailedOver && settings.logHints === 'off' && settings.checksums === 'off',
      'warning',
      'wal_log_hints and data_checksums are off: a former primary does not come back by itself',
    ],
    [
      settings.lockTimeout === '0' || settings.idleTimeout === '0',
      'warning',
      'lock_timeout or idle_in_transaction_session_timeout does not arrive, as behind a pooler: set both for the role with ALTER ROLE',
    ],
  ]
  return found.flatMap(([isFound, level, text]) => (isFound ? [{ level, about: 'database', text }] : []))
}
