import { invalidField, notFound } from '../base/errors.ts'
import type { EngineContext } from '../context/context.ts'
import { type Configs, type ConfigTypes, configs, configTypes } from '../facts/configs/config.resource.ts'
import { BUILT_IN_CONFIG_TYPES, isFormerSchema } from '../facts/configs/config-types.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { ifReadable, newRecord } from '../records/read-records.ts'

type Data = RecordOf<Configs>['data']

/** Characters of an offending value that are shown. */
const MAX_SHOWN = 256

/**
 * The data of a config fulfils the schema of its type when it is written. Errors: `COULD_NOT_VALIDATE` with the field `type`
 * for an unknown config type, or with the place in the data.
 */
export const configBehaviour: Behaviour<Configs> = {
  resource: configs,

  async prepare(context, _call, request) {
    if (request.kind === 'create') {
      const { configTypeId, data } = request.input
      if (configTypeId === '') throw invalidField('type', 'config type must be specified', '')
      await checkData(context, configTypeId, data)
    } else if (request.input.data !== undefined) {
      await checkData(context, await configTypeIdOf(context, request.id), request.input.data)
    }
    return undefined
  },
}

async function configTypeIdOf({ storage }: EngineContext, id: string): Promise<string> {
  const config = await storage.read((tx) => tx.collection(configs).get(id))
  if (config === undefined) throw notFound('config', id)
  return config.configTypeId
}

async function checkData({ storage, jsonSchema }: EngineContext, configTypeId: string, data: Data): Promise<void> {
  const configType = await storage.read((tx) => tx.collection(configTypes).get(configTypeId))
  if (configType === undefined) throw invalidField('type', 'invalid config type', configTypeId)
  const { schema } = configType
  if (schema === null || Object.keys(schema).length === 0) return
  const violation = await jsonSchema.violationOf(schema, data)
  if (violation === undefined) return
  const { path, requirement } = violation
  const place = path.join('.') || '(root)'
  const at = path.length === 0 ? '' : ` (at ${pointerTo(path)})`
  throw invalidField(place, `${place} is invalid: ${requirement}${at}`, shown(violation.value))
}

/** The JSON pointer of a place, which distinguishes names with dots from nested names. */
function pointerTo(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`
}

type Schema = RecordOf<ConfigTypes>['schema']

/**
 * The schema of a config type has to be usable and to describe an object; `{}` is no schema. A changed schema does not
 * judge existing configs. `all` stands for every config type in requests, so no config type may have that name.
 */
export const configTypeBehaviour: Behaviour<ConfigTypes> = {
  resource: configTypes,

  async prepare({ jsonSchema }, _call, { input }) {
    const schema: Schema = input.schema ?? null
    if (schema === null || Object.keys(schema).length === 0) return undefined
    if (schema.type !== 'object') {
      throw invalidField('schema', 'invalid config type schema, root type must be object', shownType(schema.type))
    }
    const problem = await jsonSchema.problemOf(schema)
    if (problem !== undefined) throw invalidField('schema', `invalid schema ${problem}`, '')
    return undefined
  },

  async guard(_context, _tx, _call, { after }) {
    if (after?.name !== 'all') return after
    throw invalidField('name', 'all is a keyword and may not be used as a config type name', 'all')
  },
}

function shownType(type: unknown): string {
  return typeof type === 'string' ? type : ''
}

/**
 * Gives a store without config types the built-in ones. In any other store, a built-in type with the schema of an
 * earlier version gets the present schema, which accepts the same configs. A type that was changed or deleted stays so.
 */
export async function keepBuiltInConfigTypes(
  { digest }: EngineContext,
  tx: WriteTransaction,
  now: number,
): Promise<void> {
  const collection = tx.collection(configTypes)
  const { totalCount: known } = await collection.find({ limit: 1 })
  for (const builtIn of BUILT_IN_CONFIG_TYPES) {
    const { id, schema } = builtIn
    if (known === 0) await collection.insert(newRecord(id, now, builtIn))
    const stored = known === 0 ? undefined : await ifReadable(() => collection.get(id))
    // Compared by its text with that of this version first: a digest would take ten times as long.
    const isCurrent = JSON.stringify(stored?.schema) === JSON.stringify(schema)
    if (stored?.schema && !isCurrent && isFormerSchema(stored.schema, digest.sha256)) {
      await collection.update({ ...stored, schema, updatedAt: now })
    }
  }
}
