import { z } from 'zod'
import { equals } from '../../domain/filter/index.ts'
import { callerOf } from '../../engine/context/call.ts'
import { EntityRef, Id, Links, Tags } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { terminators } from '../../resources/routers/terminators.ts'
import { services } from '../../resources/services/services.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { onlyMembers } from '../operations/only-members.ts'
import { shownSymbols } from '../operations/shown-symbols.ts'

/** A terminator as who may dial its service sees it: without address and costs. */
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
