import { invalidField, notFound } from '../../domain/errors.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import { type Configs, configs } from '../../resources/services/configs.ts'
import type { EngineContext } from '../context/context.ts'
import type { Behaviour } from '../records/behaviour.ts'

type Data = RecordOf<Configs>['data']

/** So much of an offending value is shown. */
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

/** The JSON pointer of a place, which tells names with dots from nested ones. */
function pointerTo(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`
}
