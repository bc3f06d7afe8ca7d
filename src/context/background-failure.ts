import { errorText } from '../base/errors.ts'
import { StorageUnavailable } from '../ports/record-storage.ts'
import type { LogFields, Logger } from '../ports/runtime.ts'

/**
 * Logs a failure of the controller's own work, or of a message from a router or an operator. A closed storage is not logged: the controller
 * is ending, and its work ends with it.
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
  if (!isClosing(error)) logger.error(message, { ...facts, error: errorText(error) })
}

/** Reports whether work failed because the storage was closed: it need not be tried again. */
export function isClosing(error: unknown): boolean {
  return error instanceof StorageUnavailable && error.reason === 'closed'
}
