import { callerOf } from '../../engine/context/call.ts'
import { services } from '../../resources/services/services.ts'
import { ConfigTypesQuery, configTypesIn } from '../operations/config-types-query.ts'
import { crudForAdmins } from '../operations/crud.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { wireSchema } from '../operations/wire-schema.ts'

/** The services that the caller may dial or bind; an admin sees its own, too. */
export const clientServiceOperations = [
  defineOperation(
    {
      route: 'GET /services',
      summary: 'Lists the services that the caller may dial or bind',
      description:
        'Each with the configs that were asked for, what may be done with it, and what must be reported for it.',
      access: 'authenticated',
      query: ConfigTypesQuery,
      data: wireSchema(services),
      symbols: services.symbols,
      byRole: true,
    },
    async ({ engine, call, query, find }) => {
      const { identity } = callerOf(call)
      const page = await engine.reader.list(
        { ...call, serviceView: configTypesIn(query) },
        services,
        find,
        engine.access.servicesOf(identity.id),
      )
      return { page }
    },
  ),
  defineOperation(
    {
      route: 'GET /services/{id}',
      summary: 'Shows a service that the caller may dial or bind',
      access: 'authenticated',
      data: wireSchema(services),
    },
    async ({ engine, call, params }) => {
      const { identity } = callerOf(call)
      const data = await engine.reader.get(call, services, params.id, engine.access.reachableBy(identity.id))
      return { data }
    },
  ),
] as const

/** What deployed clients of admins expect here, too. */
export const serviceAdministration = crudForAdmins(services, ['replace', 'patch', 'delete'])
