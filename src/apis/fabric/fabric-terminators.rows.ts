import { z } from 'zod'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { DetailOf } from '../../facts/resources/wire-forms.ts'
import { services } from '../../facts/services/service.resource.ts'
import { type Terminators, terminators } from '../../facts/services/terminator.resource.ts'
import { crud } from '../../http/operations/crud.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { describedLater, meaningOf } from '../../kernel/declaration/words.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { Page } from '../../ports/record-storage.ts'
import { serviceList } from '../services/services.rows.ts'
import { referenceTo } from './fabric-routers.rows.ts'

type Shown = DetailOf<Terminators>

/** A terminator with the members that programs of the fabric API read without checking that they are present. */
const TerminatorData = describedLater(
  terminators.detail.extend({ hostId: z.string(), instanceId: z.string() }),
  () => ({
    ...meaningOf(terminators.detail)?.members,
    hostId:
      'The host: the id of an identity, or of a router; empty for terminators that a client of the management API made.',
    instanceId: 'The same as `identity`.',
  }),
)
const READ = { access: { entity: 'terminator', action: 'read' }, data: TerminatorData } as const
const LIST = { ...READ, symbols: terminators.symbols } as const

/** Where traffic leaves the network: at which router, and at which host. */
export const fabricTerminators = {
  list: defineOperation(
    { ...LIST, route: 'GET /terminators', summary: 'Lists terminators' },
    async ({ engine, call, find }) => ({
      page: await shownPage(engine, await engine.reader.list(call, terminators, find)),
    }),
  ),
  get: defineOperation(
    { ...READ, route: 'GET /terminators/{id}', summary: 'Shows one terminator' },
    async ({ engine, call, params }) => {
      const terminator = await engine.reader.get(call, terminators, params.id)
      return { data: shown(terminator, await engine.dataPlane.hostsOf([params.id])) }
    },
  ),
  ofService: defineOperation(
    { ...LIST, route: 'GET /services/{id}/terminators', summary: 'Lists the terminators of one service' },
    async ({ engine, call, params, find }) => {
      await engine.reader.serviceAbove(params.id)
      const within = async () => equals('serviceId', params.id)
      return { page: await shownPage(engine, await engine.reader.list(call, terminators, find, within)) }
    },
  ),
  ofRouter: defineOperation(
    { ...LIST, route: 'GET /routers/{id}/terminators', summary: 'Lists the terminators at one router' },
    async ({ engine, call, params, find }) => {
      await engine.dataPlane.router(params.id)
      const within = async () => equals('routerId', params.id)
      return { page: await shownPage(engine, await engine.reader.list(call, terminators, find, within)) }
    },
  ),
} as const

async function shownPage({ dataPlane }: ControllerEngine, { items, totalCount }: Page<Shown>) {
  const hosts = await dataPlane.hostsOf(items.map(({ id }) => String(id)))
  return { items: items.map((item) => shown(item, hosts)), totalCount }
}

function shown(terminator: Shown, hosts: ReadonlyMap<string, string>) {
  const { id, identity, router } = terminator
  const atRouter = router && referenceTo('routers', String(router.id), String(router.name))
  return { ...terminator, router: atRouter, instanceId: identity, hostId: hosts.get(String(id)) ?? '' }
}

/** Services as the management API shows them. */
export const fabricServices = { list: serviceList, get: crud(services).get } as const
