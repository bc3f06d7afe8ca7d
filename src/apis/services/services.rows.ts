import { z } from 'zod'
import { ControllerError } from '../../base/errors.ts'
import { callerOf, isAdminCall } from '../../context/call.ts'
import { services } from '../../facts/services/service.resource.ts'
import { crudForAdmins } from '../../http/operations/crud.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { ConfigTypesQuery, configTypesIn } from '../../http/operations/list-query.ts'

/** The list of all services; an admin may see it as another identity does. */
export const serviceList = defineOperation(
  {
    route: 'GET /services',
    summary: 'Lists services; with asIdentity (id or name), as that identity sees them',
    access: { entity: 'service', action: 'read' },
    query: ConfigTypesQuery.extend({ asIdentity: z.string().optional() }),
    data: wireSchema(services),
    symbols: services.symbols,
    byRole: true,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, query, find }) => {
    if (query.asIdentity && !isAdminCall(call)) throw new ControllerError('UNAUTHORIZED')
    const identityId = query.asIdentity ? await engine.reader.identityIdOf(query.asIdentity) : undefined
    const serviceView = { ...configTypesIn(query), ...(identityId !== undefined && { identityId }) }
    return { page: await engine.reader.list({ ...call, serviceView }, services, find) }
  },
)

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

/** Operations on services that deployed clients of admins expect here, too. */
export const serviceAdministration = crudForAdmins(services, ['replace', 'patch', 'delete'])
