import { ControllerError } from '../base/errors.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import type { HostEngine } from '../engine/host-engine.ts'
import type { StoreEngine } from '../engine/store-engine.ts'
import { explanationText } from '../facts/access/explain/index.ts'
import { postureResponses } from '../facts/access/posture/rules/index.ts'
import { serviceConfigs } from '../facts/configs/config.resource.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import type { Network } from '../model/index.ts'
import { type AccessQuestion, listAll, type NetworkDoor, RefusedRequest } from './network-door.ts'
import { readNetwork } from './read-network.ts'

/** The network of a controller in this process, with the rights of the system. */
export async function networkOf({ engine }: { readonly engine: HostEngine }): Promise<Network> {
  const { engineOf } = await import('../controller/guarded-engine.ts')
  return readNetwork(engineDoor(engineOf(engine)))
}

/** The network of an engine, with the rights of the system. Only a whole controller explains access. */
export function engineDoor(engine: StoreEngine, explaining?: ControllerEngine): NetworkDoor {
  return {
    entities: (name) => {
      const resource = resourceNamed(name)
      const service = engine.of(resource)
      return {
        list: async (query) => {
          const { items, totalCount } = await engine.reader.list(SYSTEM_CALL, resource, query)
          return { items: onTheWire(items), totalCount }
        },
        find: async (id) => (await service.get(id)).id,
        create: (body) => refusable(async () => (await service.create(SYSTEM_CALL, { ...body })).id),
        replace: (id, body) => refusable(async () => void (await service.replace(SYSTEM_CALL, id, { ...body }))),
        patch: (id, body) => refusable(async () => void (await service.patch(SYSTEM_CALL, id, { ...body }))),
        delete: (id) => refusable(() => service.delete(SYSTEM_CALL, id)),
      }
    },
    serviceConfigs: {
      list: async () => {
        const page = (query: { readonly limit: number; readonly offset: number }) =>
          engine.reader.list(SYSTEM_CALL, serviceConfigs, query)
        return (await listAll(page)).map(({ identityId, serviceId, configId }) => ({
          identityId: String(identityId),
          serviceId: String(serviceId),
          configId: String(configId),
        }))
      },
      associate: (id, pairs) => refusable(() => engine.serviceConfigs.associate(SYSTEM_CALL, id, [...pairs])),
      remove: (id, pairs) => refusable(() => engine.serviceConfigs.remove(SYSTEM_CALL, id, [...pairs])),
    },
    explain: async (question) => {
      if (explaining === undefined) throw new Error('access is not explained inside of a transaction')
      return explained(explaining, question)
    },
  }
}

async function explained(engine: ControllerEngine, { identity, service, type, at, posture = {} }: AccessQuestion) {
  const { mfa, ...facts } = posture
  const explanation = await engine.explain(identity, service, type, {
    ...(at === undefined ? {} : { at: Date.parse(at) }),
    posture: postureResponses(facts),
    ...(mfa === true ? { mfa: true } : {}),
  })
  return { ...explanation, text: explanationText(explanation) }
}

async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ControllerError)) throw error
    throw new RefusedRequest(error, { member: error.details?.field, isAbsent: error.code === 'NOT_FOUND' })
  }
}

/** Entities as an answer of the API has them: instants are texts. */
function onTheWire<T>(items: readonly T[]): readonly Readonly<Record<string, unknown>>[] {
  return JSON.parse(JSON.stringify(items))
}
