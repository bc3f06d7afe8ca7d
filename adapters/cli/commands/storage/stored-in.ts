import { withoutPasswords } from '../../input/open-storage.ts'
import { UsageError } from '../../settings/usage-error.ts'

/**
 * The storage that a command works on, `sqlite:FILE` or `postgres://…`, and the file of the former. Throws
 * {@link UsageError} for none, for memory and for anything else; `taken` says what the command takes.
 */
export function storedIn(
  command: string,
  storage: string | undefined,
  taken: string,
): { readonly storage: string; readonly file: string | undefined } {
  if (storage === 'memory') {
    throw new UsageError(`${command} needs --storage ${taken}: memory is gone with the process that keeps it`)
  }
  const isKnown = /^(sqlite:.+|postgres(ql)?:\/\/.*)$/s.test(storage ?? '')
  if (storage === undefined || !isKnown) throw new UsageError(`${command} needs --storage ${taken}`)
  return { storage, file: storage.startsWith('sqlite:') ? storage.slice('sqlite:'.length) : undefined }
}

/** Does what a command was asked, and tells what went wrong with the storage in one line without passwords. */
export async function withStorageErrors<T>(command: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${command}: ${withoutPasswords(error)}`, { cause: error })
  }
}
