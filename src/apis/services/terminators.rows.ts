import { z } from 'zod'
import { callerOf } from '../../context/call.ts'
import { services } from '../../facts/services/service.resource.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { shownSymbols } from '../../http/operations/list-query.ts'
import { onlyMembers } from '../../http/operations/operation.ts'
import { EntityRef, Id, Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { equals } from '../../kernel/filter/index.ts'

export const terminatorsOfService = defineOperation(
  {
    route: 'GET /services/{id}/terminators',
    summary: 'Lists the terminators of one service',
    access: { entity: 'terminator', action: 'read' },
    data: wireSchema(terminators),
    symbols: terminators.symbols,
  },
  async ({ engine, call, params, find }) => {
    await engine.reader.serviceAbove(params.id)
    return { page: await engine.reader.list(call, terminators, find, async () => equals('serviceId', params.id)) }
  },
)

/** A terminator as dialers of its service see it: without address and costs. */
const ClientTerminator = described(
  z.object({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: Id,
    identity: z.string(),
    routerId: Id,
    service: EntityRef.nullable(),
    serviceId: Id,
    tags: Tags,
    updatedAt: z.iso.datetime(),
  }),
  {
    identity: 'The instance that the terminator leads to; empty for none.',
    routerId: 'The id of the router at which traffic leaves the network.',
    service: 'What `serviceId` names, as a reference.',
    serviceId: 'The id of the service that is reached.',
  },
)

export const reachableTerminators = defineOperation(
  {
    route: 'GET /services/{id}/terminators',
    summary: 'Lists the terminators of a service that the caller may dial or bind',
    access: 'authenticated',
    data: ClientTerminator,
    symbols: shownSymbols(terminators.symbols, ClientTerminator),
  },
  async ({ engine, call, params, find }) => {
    const { identity } = callerOf(call)
    await engine.reader.get(call, services, params.id, engine.access.reachableBy(identity.id))
    const page = await engine.reader.list(call, terminators, find, async () => equals('serviceId', params.id))
    return { page: { ...page, items: page.items.map((terminator) => onlyMembers(terminator, ClientTerminator)) } }
  },
)
