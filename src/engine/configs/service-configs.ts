import type { z } from 'zod'
import { invalidField, notFound } from '../../domain/errors.ts'
import { both, equals } from '../../domain/filter/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { readId, readRequest } from '../../resources/requests/read-body.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import { configs } from '../../resources/services/configs.ts'
import { ServiceConfigPairs } from '../../resources/services/service-config-requests.ts'
import { serviceConfigs } from '../../resources/services/service-configs.ts'
import { services } from '../../resources/services/services.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { newRecord } from '../records/new-record.ts'

type Pairs = z.input<typeof ServiceConfigPairs>

/** Configs that one identity sees for services instead of the services' own. */
export class ServiceConfigs {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Gives an identity its own configs, in place of those that it has for the same service and config type. Errors:
   * `NOT_FOUND` for the identity or a config, `COULD_NOT_VALIDATE` (`serviceConfigs`) for an unknown service or a config
   * that is not meant for services.
   */
  async associate(call: Call, identityId: string, request: Pairs): Promise<void> {
    const pairs = readRequest(ServiceConfigPairs, request)
    await this.#write(call, identityId, async (tx) => {
      for (const pair of pairs) await this.#associate(tx, identityId, pair)
    })
  }

  /** Takes from an identity what it has for the service and the type of the config, whichever config it is. */
  async remove(call: Call, identityId: string, request: Pairs): Promise<void> {
    const pairs = readRequest(ServiceConfigPairs, request)
    await this.#write(call, identityId, async (tx) => {
      for (const { serviceId, configId } of pairs) {
        const { configTypeId } = await knownConfig(tx, configId)
        const existing = await overrideOf(tx, identityId, serviceId, configTypeId)
        if (existing !== undefined) await tx.collection(serviceConfigs).delete(existing.id)
      }
    })
  }

  async #associate(tx: WriteTransaction, identityId: string, pair: Pairs[number]): Promise<void> {
    const { serviceId, configId } = pair
    if ((await tx.collection(services).get(serviceId)) === undefined) {
      throw invalidField('serviceConfigs', 'no edge service found with the given id', serviceId)
    }
    const { name, configTypeId } = await knownConfig(tx, configId)
    const configType = await tx.collection(configTypes).get(configTypeId)
    if (configType?.target !== 'service') {
      const reason = `config ${name} has config type ${configType?.name} which does not target services`
      throw invalidField('serviceConfigs', reason, configId)
    }
    const existing = await overrideOf(tx, identityId, serviceId, configTypeId)
    const now = this.#context.clock.now()
    if (existing === undefined) {
      const pairing = { identityId, serviceId, configId, configTypeId }
      await tx.collection(serviceConfigs).insert(newRecord(this.#context.random.id(), now, pairing))
    } else if (existing.configId !== configId) {
      await tx.collection(serviceConfigs).update({ ...existing, configId, updatedAt: now })
    }
  }

  #write(call: Call, identityId: string, work: (tx: WriteTransaction) => Promise<void>): Promise<void> {
    readId(identityId, 'identityId')
    return this.#context.writes.run(call, async (tx) => {
      if ((await tx.collection(identities).get(identityId)) === undefined) throw notFound('identity', identityId)
      await work(tx)
    })
  }
}

async function knownConfig(tx: WriteTransaction, id: string): Promise<RecordOf<typeof configs>> {
  const config = await tx.collection(configs).get(id)
  if (config === undefined) throw notFound('config', id)
  return config
}

async function overrideOf(tx: WriteTransaction, identityId: string, serviceId: string, configTypeId: string) {
  const where = both(equals('identityId', identityId), equals('serviceId', serviceId))
  const { items } = await tx.collection(serviceConfigs).find(where && { where })
  return items.find((override) => override.configTypeId === configTypeId)
}
