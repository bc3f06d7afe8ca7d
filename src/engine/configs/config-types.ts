import { invalidField } from '../../domain/errors.ts'
import { configTypes } from '../../resources/config-types.ts'
import type { CreateOf, PatchOf, RecordOf, ReplaceOf } from '../../resources/resource.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { ResourceService } from '../records/resource-service.ts'

type ConfigType = RecordOf<typeof configTypes>

/**
 * Config types. A schema has to be usable and to describe an object; `{}` is no schema. Compiling a schema is slow work, so
 * it is done before the transaction. Configs that exist are not judged by a changed schema (interface: Config type).
 */
export class ConfigTypes extends ResourceService<typeof configTypes> {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    super(context, configTypes, { guard: async (_context, _tx, _call, { after }) => after && refuseKeyword(after) })
    this.#context = context
  }

  override async create(call: Call, input: CreateOf<typeof configTypes>): Promise<ConfigType> {
    await this.#check(input.schema)
    return super.create(call, input)
  }

  override async replace(call: Call, id: string, input: ReplaceOf<typeof configTypes>): Promise<ConfigType> {
    await this.#check(input.schema)
    return super.replace(call, id, input)
  }

  override async patch(call: Call, id: string, input: PatchOf<typeof configTypes>): Promise<ConfigType> {
    await this.#check(input.schema)
    return super.patch(call, id, input)
  }

  async #check(schema: ConfigType['schema'] | undefined): Promise<void> {
    if (!schema || Object.keys(schema).length === 0) return
    if (schema.type !== 'object') {
      throw invalidField('schema', 'invalid config type schema, root type must be object', shown(schema.type))
    }
    const problem = await this.#context.jsonSchema.problemOf(schema)
    if (problem !== undefined) throw invalidField('schema', `invalid schema ${problem}`, '')
  }
}

function refuseKeyword(configType: ConfigType): ConfigType {
  if (configType.name !== 'all') return configType
  throw invalidField('name', 'all is a keyword and may not be used as a config type name', 'all')
}

function shown(type: unknown): string {
  return typeof type === 'string' ? type : ''
}
