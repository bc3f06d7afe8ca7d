import { invalidField } from '../../domain/errors.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { type ConfigTypes, configTypes } from '../../resources/services/config-types.ts'
import type { Behaviour } from '../records/behaviour.ts'

type Schema = RecordOf<ConfigTypes>['schema']

/**
 * The schema of a config type has to be usable and to describe an object; `{}` is no schema. Configs that exist are not
 * judged by a changed schema. `all` stands for every config type where they are asked for, so none is called so.
 */
export const configTypeBehaviour: Behaviour<ConfigTypes> = {
  resource: configTypes,

  async prepare({ jsonSchema }, _call, { input }) {
    const schema: Schema = input.schema ?? null
    if (schema === null || Object.keys(schema).length === 0) return undefined
    if (schema.type !== 'object') {
      throw invalidField('schema', 'invalid config type schema, root type must be object', shown(schema.type))
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

function shown(type: unknown): string {
  return typeof type === 'string' ? type : ''
}
