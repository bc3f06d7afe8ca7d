import type { Storage } from '../../src/index.ts'
import { memoryStorage } from '../memory/index.ts'
import { UsageError } from './usage-error.ts'

/** Opens the storage that `--storage` names. Rejects with a {@link UsageError}. */
export async function openStorage(where: string): Promise<Storage> {
  if (where === 'memory') return memoryStorage()
  if (where.startsWith('sqlite:') || /^postgres(ql)?:\/\//.test(where)) {
    throw new UsageError('--storage: this version keeps records in memory only; SQL storage is not part of it yet')
  }
  throw new UsageError(`--storage takes memory, sqlite:FILE or postgres://…: got '${withoutPassword(where)}'`)
}

/** A storage as it may be shown: a URL may hold a password. */
export function withoutPassword(where: string): string {
  return where.replace(/\/\/[^@/]*@/, '//')
}
