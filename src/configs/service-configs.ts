import type { z } from 'zod'
import { invalidField, notFound } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { configs, configTypes, ServiceConfigPairs, serviceConfigs } from '../facts/configs/config.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { writeEachInParts } from '../records/write-batches.ts'

type Pairs = z.input<typeof ServiceConfigPairs>
type Pair = Pairs[number]
/** Refuses a pair, or answers the config type that it is about. */
type Judge = (tx: ReadTransaction, pair: Pair) => Promise<string>

/** Configs that one identity sees for services instead of the services' own. */
export class ServiceConfigs {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Gives an identity its own configs, which replace its earlier ones for the same service and config type.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown identity or config.
   * @throws {ControllerError} COULD_NOT_VALIDATE (`serviceConfigs`) for an unknown service, or a config that is not meant for services.
   */
  async associate(call: Call, identityId: string, request: Pairs): Promise<void> {
    const pairs = readRequest(ServiceConfigPairs, request)
    await this.#write(call, identityId, pairs, requireTypeOfPair, (tx, pair) => this.#associate(tx, identityId, pair))
  }

  /**
   * Takes from an identity its config for the service and the type, whichever config that is.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown identity or config.
   */
  async remove(call: Call, identityId: string, request: Pairs): Promise<void> {
    const pairs = readRequest(ServiceConfigPairs, request)
    const known: Judge = async (tx, { configId }) => (await knownConfig(tx, configId)).configTypeId
    await this.#write(call, identityId, pairs, known, async (tx, pair) => {
      const existing = await overrideOf(tx, identityId, pair.serviceId, await known(tx, pair))
      if (existing !== undefined) await tx.collection(serviceConfigs).delete(existing.id)
    })
  }

  async #associate(tx: WriteTransaction, identityId: string, pair: Pair): Promise<void> {
    const { serviceId, configId } = pair
    const configTypeId = await requireTypeOfPair(tx, pair)
    const existing = await overrideOf(tx, identityId, serviceId, configTypeId)
    const now = this.#context.clock.now()
    if (existing === undefined) {
      const pairing = { identityId, serviceId, configId, configTypeId }
      await tx.collection(serviceConfigs).insert(newRecord(this.#context.random.id(), now, pairing))
    } else if (existing.configId !== configId) {
      await tx.collection(serviceConfigs).update({ ...existing, configId, updatedAt: now })
    }
  }

  /** Many pairs take several writes, so all of them are judged before the first. */
  async #write(
    call: Call,
    identityId: string,
    pairs: Pairs,
    judge: Judge,
    work: (tx: WriteTransaction, pair: Pair) => Promise<void>,
  ): Promise<void> {
    readId(identityId, 'identityId')
    await this.#context.storage.read(async (tx) => {
      await requireIdentity(tx, identityId)
      for (const pair of pairs) await judge(tx, pair)
    })
    await writeEachInParts(this.#context, call, pairs, async (tx, pair) => {
      await requireIdentity(tx, identityId)
      await work(tx, pair)
    })
  }
}

async function requireIdentity(tx: ReadTransaction, id: string): Promise<void> {
  if ((await tx.collection(identities).get(id)) === undefined) throw notFound('identity', id)
}

/** The config type of a pair whose service exists and whose config is meant for services. */
async function requireTypeOfPair(tx: ReadTransaction, { serviceId, configId }: Pair): Promise<string> {
  if ((await tx.collection(services).get(serviceId)) === undefined) {
    throw invalidField('serviceConfigs', 'no edge service found with the given id', serviceId)
  }
  const { name, configTypeId } = await knownConfig(tx, configId)
  const configType = await tx.collection(configTypes).get(configTypeId)
  if (configType?.target === 'service') return configTypeId
  const reason = `config ${name} has config type ${configType?.name} which does not target services`
  throw invalidField('serviceConfigs', reason, configId)
}

async function knownConfig(tx: ReadTransaction, id: string): Promise<RecordOf<typeof configs>> {
  const config = await tx.collection(configs).get(id)
  if (config === undefined) throw notFound('config', id)
  return config
}

async function overrideOf(tx: WriteTransaction, identityId: string, serviceId: string, configTypeId: string) {
  const where = both(equals('identityId', identityId), equals('serviceId', serviceId))
  const { items } = await tx.collection(serviceConfigs).find(where && { where })
  return items.find((override) => override.configTypeId === configTypeId)
}
