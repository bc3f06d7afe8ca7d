import type { Storage } from '../../src/index.ts'
import { memoryStorage } from '../memory/index.ts'
import type { Setting } from './setting.ts'
import { UsageError } from './usage-error.ts'

/** A storage, and what it is called in the ready line: without file names, addresses and passwords. */
export interface OpenStorage {
  readonly storage: Storage
  readonly name: string
}

/** Opens the storage of a setting: `memory`, `sqlite:FILE` or `postgres://…`. Throws {@link UsageError}. */
export function openStorage({ name, value }: Setting): OpenStorage {
  if (value === 'memory') return { storage: memoryStorage(), name: 'memory' }
  // Only the scheme may be shown: what follows it can hold a password.
  const [, scheme] = /^(sqlite|postgres|postgresql):/.exec(value) ?? []
  if (scheme !== undefined) throw new UsageError(`${name} ${scheme}: is not available in this version, memory is`)
  throw new UsageError(`${name} takes memory, sqlite:FILE or postgres://…`)
}
