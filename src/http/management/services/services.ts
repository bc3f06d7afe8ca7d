import { z } from 'zod'
import { ControllerError } from '../../../domain/errors.ts'
import { isAdminCall } from '../../../engine/context/call.ts'
import { services } from '../../../resources/services/services.ts'
import { ConfigTypesQuery, configTypesIn } from '../../operations/config-types-query.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { wireSchema } from '../../operations/wire-schema.ts'

/** The list of all services; an admin may look at it as another identity does. */
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
