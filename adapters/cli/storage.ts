import type { Storage } from '../../src/index.ts'
import { memoryStorage } from '../memory/index.ts'
import type { Setting } from './setting.ts'
import { UsageError } from './usage-error.ts'

/** A storage, and what it is called in the ready line: without file names, addresses and passwords. */
export interface OpenStorage {
  readonly storage: Storage
  readonly name: string
}

/**
 * Opens the storage of a setting: `memory`, `sqlite:FILE` or `postgres://…`; a missing file and missing tables are made.
 * Throws {@link UsageError}. SQL is loaded only when it is asked for: its packages are optional.
 */
export async function openStorage({ name, value }: Setting): Promise<OpenStorage> {
  if (value === 'memory') return { storage: memoryStorage(), name: 'memory' }
  // Only the scheme may be shown: what follows it can hold a password.
  const [, scheme, file = ''] = /^(sqlite|postgres|postgresql):(.*)$/s.exec(value) ?? []
  if (scheme === undefined || (scheme === 'sqlite' && file === '')) {
    throw new UsageError(`${name} takes memory, sqlite:FILE or postgres://…`)
  }
  try {
    const { postgresStorage, sqliteStorage } = await import('../kysely/index.ts')
    return scheme === 'sqlite'
      ? { storage: await sqliteStorage(file), name: 'sqlite' }
      : { storage: await postgresStorage({ connection: value }), name: 'postgres' }
  } catch (error) {
    throw new UsageError(`${name} ${scheme}: ${withoutPasswords(error)}`, { cause: error })
  }
}

/** The message of an error, without the credentials of an address in it. */
export function withoutPasswords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replaceAll(/\/\/[^@\s/]*@/g, '//')
}
