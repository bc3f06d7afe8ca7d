import { visible } from '../base/text.ts'
import type { LogFields, Logger } from '../ports/runtime.ts'

/** Writes one line of JSON per entry to standard error; control characters in values cannot forge lines. */
export function createConsoleLogger(): Logger {
  const write = (level: string) => (message: string, fields?: LogFields) =>
    console.error(visible(JSON.stringify({ level, message, ...fields })))
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

/**
 * Adapts a host's own logger to the controller. Loggers like pino and bunyan take the fields before the message, and would lose the fields
 * without this.
 */
export function hostLogger(logger: Logger): Logger {
  if (!takesFieldsFirst(logger)) return logger
  const write = (level: 'info' | 'warn' | 'error') => {
    return (message: string, fields: LogFields = {}) => {
      // A logger that takes the fields first has its arguments in the opposite order of the port.
      const target = logger as unknown as FieldsFirst
      target[level](fields, message)
    }
  }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

type FieldsFirst = Readonly<Record<'info' | 'warn' | 'error', (fields: LogFields, message: string) => void>>

/** Recognises pino by `bindings` and bunyan by `addStream`; loggers that take the message first have neither. */
function takesFieldsFirst(logger: Logger): boolean {
  return ['bindings', 'addStream'].some((method) => typeof Reflect.get(logger, method) === 'function')
}
