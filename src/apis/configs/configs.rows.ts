import { configs } from '../../facts/configs/config.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { equals, type Filter, ids } from '../../kernel/filter/index.ts'

/** The configs of a type or a service, and the services with a config. */
export const configOperations = [
  defineOperation(
    {
      route: 'GET /config-types/{id}/configs',
      summary: 'Lists the configs of one config type',
      access: { entity: 'config', action: 'read' },
      data: wireSchema(configs),
      symbols: configs.symbols,
    },
    async ({ engine, call, params, find }) => ({
      page: await engine.reader.list(call, configs, find, async () => equals('configTypeId', params.id)),
    }),
  ),
  defineOperation(
    {
      route: 'GET /configs/{id}/services',
      summary: 'Lists the services that have one config',
      access: { entity: 'service', action: 'read' },
      data: wireSchema(services),
      symbols: services.symbols,
    },
    async ({ engine, call, params, find }) => ({
      page: await engine.reader.list(call, services, find, async () => has('configs', params.id)),
    }),
  ),
  defineOperation(
    {
      route: 'GET /services/{id}/configs',
      summary: 'Lists the configs of one service',
      access: { entity: 'config', action: 'read' },
      data: wireSchema(configs),
      symbols: configs.symbols,
    },
    async ({ engine, call, params, find }) => {
      const service = await engine.reader.serviceAbove(params.id)
      return { page: await engine.reader.list(call, configs, find, async () => ids(service?.configs ?? [])) }
    },
  ),
] as const

function has(field: string, id: string): Filter {
  return { kind: 'compare', operand: { kind: 'anyOf', field }, operator: '=', value: id }
}
