import { z } from 'zod'
import { described } from '../../resources/declaration/words.ts'
import { serviceConfigs } from '../../resources/services/service-configs.ts'
import { defineOperation } from '../operations/define-operation.ts'

/** The configs that identities have of their own, of all identities at once: who copies a network needs them all. */
export const listServiceConfigsOperation = defineOperation(
  {
    route: 'GET /service-configs',
    summary: 'Lists the configs of their own that identities have for services',
    access: { entity: 'identity', action: 'read' },
    data: described(z.object({ id: z.string(), identityId: z.string(), serviceId: z.string(), configId: z.string() }), {
      id: 'Tells this from the others.',
      identityId: 'The id of the identity.',
      serviceId: 'The id of the service.',
      configId: 'The id of the config that the identity sees for it.',
    }),
    symbols: serviceConfigs.symbols,
  },
  async ({ engine, call, find }) => {
    const { items, totalCount } = await engine.reader.list(call, serviceConfigs, find)
    const shown = items.map(({ id, identityId, serviceId, configId }) => ({ id, identityId, serviceId, configId }))
    return { page: { items: shown, totalCount } }
  },
)
