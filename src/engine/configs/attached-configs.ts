import { invalidField } from '../../domain/errors.ts'
import { ids } from '../../domain/filter/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import { configs } from '../../resources/services/configs.ts'

interface Configured {
  readonly configs: readonly string[]
}

/**
 * Refuses configs that do not belong to a service or a router: of a type with another target, or two of one type. Only a
 * changed list is judged. Unknown ids are left to the check of references.
 */
export async function checkAttachedConfigs(
  tx: ReadTransaction,
  target: 'service' | 'router',
  before: Configured | undefined,
  after: Configured,
): Promise<void> {
  if (after.configs.length === 0 || after.configs.join() === before?.configs.join()) return
  const { items } = await tx.collection(configs).find({ where: ids(after.configs) })
  const types = await tx.collection(configTypes).find({ where: ids(items.map(({ configTypeId }) => configTypeId)) })
  const seen = new Map<string, string>()
  for (const { name, configTypeId } of items) {
    const configType = types.items.find(({ id }) => id === configTypeId)
    const typeName = configType?.name ?? configTypeId
    if (configType?.target !== target) {
      const reason = `config ${name} has config type ${typeName} which does not target ${target}s`
      throw invalidField('configs', reason, after.configs)
    }
    const other = seen.get(configTypeId)
    if (other !== undefined) {
      const rule = `Only one config of a given type is allowed per ${target}`
      const reason = `duplicate configs named ${other} and ${name} found for config type ${typeName}. ${rule}`
      throw invalidField('configs', reason, after.configs)
    }
    seen.set(configTypeId, name)
  }
}
