import { z } from 'zod'
import { ServiceConfigPairs, serviceConfigs } from '../../facts/configs/config.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { EntityRef, Id } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { equals } from '../../kernel/filter/index.ts'

const ServiceConfig = described(z.object({ config: EntityRef, configId: Id, service: EntityRef, serviceId: Id }), {
  config: 'The config that the identity sees, as a reference.',
  configId: 'Its id.',
  service: 'The service for which it sees it, as a reference.',
  serviceId: 'Its id.',
})

/** Configs that one identity sees for services instead of the services' own. */
export const serviceConfigOperations = [
  defineOperation(
    {
      route: 'GET /identities/{id}/service-configs',
      summary: 'Lists the configs of its own that an identity has for services',
      access: { entity: 'identity', action: 'read' },
      data: z.array(ServiceConfig),
      hasListMeta: true,
    },
    async ({ engine, call, params }) => {
      await engine.identities.get(params.id)
      const { items, totalCount } = await engine.reader.list(call, serviceConfigs, {}, async () =>
        equals('identityId', params.id),
      )
      // A deletion of the config or the service deletes the pair.
      const shown = items.flatMap(({ config, configId, service, serviceId }) =>
        config === null || service === null ? [] : [{ config, configId, service, serviceId }],
      )
      return { page: { items: shown, totalCount } }
    },
  ),
  defineOperation(
    {
      route: 'POST /identities/{id}/service-configs',
      summary: 'Gives an identity its own configs for services, one per service and config type',
      description:
        'The type of the config must be for services. A config of the same type that the identity had for the service is replaced.',
      access: { entity: 'identity', action: 'update' },
      body: ServiceConfigPairs,
      bodyOptional: true,
    },
    async ({ engine, call, params, request = [] }) => done(engine.serviceConfigs.associate(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'DELETE /identities/{id}/service-configs',
      summary: 'Takes from an identity its own configs for services, by service and type of config',
      description: 'The configs of the pairs tell the types; which of them the identity had does not matter.',
      access: { entity: 'identity', action: 'update' },
      body: ServiceConfigPairs,
      bodyOptional: true,
    },
    async ({ engine, call, params, request = [] }) => done(engine.serviceConfigs.remove(call, params.id, request)),
  ),
] as const

/** The configs that identities have of their own, of all identities at once: a copy of a network needs them all. */
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
