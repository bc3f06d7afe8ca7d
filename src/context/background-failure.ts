import { StorageUnavailable } from '../ports/record-storage.ts'
import type { LogFields, Logger } from '../ports/runtime.ts'

/**
 * Logs that work of the controller itself failed, or a message of a router or an operator. A storage that was closed is no
 * failure: the controller is ending, and work that was under way ends with it.
 *
 * @example
 * logFailure(console, 'events could not be looked for', new Error('timed out'))
 */
export function logFailure(
  logger: Pick<Logger, 'error'>,
  message: string,
  error: unknown,
  facts: LogFields = {},
): void {
  if (!isClosing(error)) logger.error(message, { ...facts, error: String(error) })
}

/** Whether work failed because the storage was closed, so that it need not be tried again. */
export function isClosing(error: unknown): boolean {
  return error instanceof StorageUnavailable && error.reason === 'closed'
}
