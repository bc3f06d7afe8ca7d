import { visible } from '../domain/visible-text.ts'
import type { LogFields, Logger } from '../ports/logger.ts'

/** Writes one line of JSON per entry to standard error; control characters in values cannot forge lines. */
export function createConsoleLogger(): Logger {
  const write = (level: string) => (message: string, fields?: LogFields) =>
    console.error(visible(JSON.stringify({ level, message, ...fields })))
  return { info: write('info'), warn: write('warn'), error: write('error') }
}
