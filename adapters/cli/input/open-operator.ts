import { existsSync } from 'node:fs'
import { type Operator, openOperator } from '../../../src/index.ts'
import type { GivenOptions } from '../command-line/options.ts'
import { UsageError } from '../settings/usage-error.ts'
import { DEFAULT_STORAGE, openStorage } from './open-storage.ts'
import type { STORAGE_OPTIONS } from './storage-options.ts'
import { readTables } from './table-options.ts'

/** Does `work` on the storage that the options name, which has to be there, and closes it. Throws {@link UsageError}. */
export async function withOperator<T>(
  options: GivenOptions<keyof typeof STORAGE_OPTIONS>,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const setting = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  if (setting.value === 'memory') {
    throw new UsageError(
      `${setting.name} takes sqlite:FILE or postgres://…: memory is gone with the process that keeps it`,
    )
  }
  const file = /^sqlite:(.*)$/s.exec(setting.value)?.[1]
  // Opening would make it: a slip in the name would leave an empty database, and nothing would be done.
  if (file !== undefined && !existsSync(file)) throw new UsageError(`${setting.name}: there is no file ${file}`)
  const tables = readTables(setting.value, {
    prefix: options.setting('table-prefix'),
    schema: options.setting('schema'),
  })
  const { storage } = await openStorage(setting, tables)
  const operator = await openOperator({ storage })
  try {
    return await work(operator)
  } finally {
    await operator.close()
  }
}
