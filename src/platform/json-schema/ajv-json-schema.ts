import type { ErrorObject, ValidateFunction } from 'ajv'
import { BoundedMap } from '../../base/collections.ts'
import type { JsonSchema, SchemaViolation } from '../../ports/runtime.ts'
import { loadAjv } from './ajv-library.ts'
import { fromDraft4 } from './json-schema-formats.ts'
import { withPlainReferences } from './schema-references.ts'
import { UnusableSchema, weightOfSchema } from './schema-weight.ts'

/** Compiled schemas that are kept; the least recently used schema is dropped first. */
const MAX_COMPILED = 200
/** The characters of a value times the weight of its schema: about a second of work in the worst case. */
const MAX_WORK = 500_000_000

type Document = Readonly<Record<string, unknown>>

interface Compiled {
  readonly validate: ValidateFunction
  readonly weight: number
}

/** JSON schemas on ajv, with RE2 for patterns. Schemas are compiled once, by their text. */
export function createAjvJsonSchema(): JsonSchema {
  const compiled = new BoundedMap<string, Compiled>(MAX_COMPILED)
  let loading: ReturnType<typeof loadCompiler> | undefined

  async function compile(schema: Document): Promise<Compiled> {
    const text = JSON.stringify(schema)
    loading ??= loadCompiler()
    const known = compiled.get(text) ?? (await loading)(schema)
    compiled.set(text, known)
    return known
  }

  return {
    problemOf: async (schema) => {
      try {
        await compile(schema)
        return undefined
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    violationOf: async (schema, value) => {
      const { validate, weight } = await compile(schema)
      if (weight * JSON.stringify(value).length > MAX_WORK) {
        return { path: [], requirement: 'must be smaller to be judged by its schema', value: undefined }
      }
      if (validate(value)) return undefined
      const [error] = validate.errors ?? []
      return error === undefined ? { path: [], requirement: 'must fulfil its schema', value } : violationFrom(error)
    },
  }
}

/** Every schema is compiled separately, so that no schema can name, replace or refer to another. */
async function loadCompiler(): Promise<(schema: Document) => Compiled> {
  const createAjv = await loadAjv()
  const metaSchema = createAjv({})
  return (schema) => {
    // Drafts 4, 6 and 7 are read alike, whatever draft a schema names.
    const { $schema: _, ...written } = schema
    const weight = weightOfSchema(written)
    const document = fromDraft4(written)
    if (!metaSchema.validateSchema(document)) throw new UnusableSchema(metaSchema.errorsText(metaSchema.errors))
    const ajv = createAjv({ meta: false, validateSchema: false, addUsedSchema: false, verbose: true })
    return { validate: ajv.compile(withPlainReferences(document)), weight }
  }
}

/** Characters of a requirement that are shown. */
const MAX_SHOWN = 256

/** The first violation that a validator found: the innermost violation of a condition with several parts. */
function violationFrom(error: ErrorObject): SchemaViolation {
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
