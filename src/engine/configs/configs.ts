import { invalidField } from '../../domain/errors.ts'
import { configTypes } from '../../resources/config-types.ts'
import { configs } from '../../resources/configs.ts'
import type { CreateOf, PatchOf, RecordOf, ReplaceOf } from '../../resources/resource.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { ResourceService } from '../records/resource-service.ts'

type Config = RecordOf<typeof configs>

/** So much of an offending value is shown. */
const MAX_SHOWN = 256

/** Configs. Their data fulfils the schema of their type when it is written (interface: Config). */
export class Configs extends ResourceService<typeof configs> {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    super(context, configs)
    this.#context = context
  }

  /** Errors: `COULD_NOT_VALIDATE` with the field `type` for an unknown config type, or with the place in the data. */
  override async create(call: Call, input: CreateOf<typeof configs>): Promise<Config> {
    if (input.configTypeId === '') throw invalidField('type', 'config type must be specified', '')
    await this.#check(input.configTypeId, input.data)
    return super.create(call, input)
  }

  override async replace(call: Call, id: string, input: ReplaceOf<typeof configs>): Promise<Config> {
    await this.#check((await this.get(id)).configTypeId, input.data)
    return super.replace(call, id, input)
  }

  override async patch(call: Call, id: string, input: PatchOf<typeof configs>): Promise<Config> {
    if (input.data) await this.#check((await this.get(id)).configTypeId, input.data)
    return super.patch(call, id, input)
  }

  async #check(configTypeId: string, data: Config['data']): Promise<void> {
    const { storage, jsonSchema } = this.#context
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
}

/** The JSON pointer of a place, which tells names with dots from nested ones. */
function pointerTo(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`
}
