import type { ErrorObject } from 'ajv'
import type { SchemaViolation } from '../../ports/json-schema.ts'

/** So much of a requirement is shown. */
const MAX_SHOWN = 256

/** The violation that a validator found first: the innermost one, where a condition has several parts. */
export function violationFrom(error: ErrorObject): SchemaViolation {
  const path = error.instancePath.split('/').slice(1).map(unescaped)
  return { path, requirement: requirementOf(error), value: error.data }
}

function requirementOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return `${params.missingProperty} is required`
    case 'additionalProperties':
      return `additional property ${params.additionalProperty} is not allowed`
    case 'enum':
      return `must be one of ${shortened(JSON.stringify(params.allowedValues))}`
    default:
      return shortened(message ?? `must fulfil ${keyword}`)
  }
}

function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
