import { z } from 'zod'
import { instant } from '../../base/time.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import type { Access } from '../../http/operations/operation.ts'
import { Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { SymbolTable } from '../../kernel/filter/index.ts'
import { CONTROLLER_ID } from '../../network/controller-settings.ts'
import { pageOf } from '../../records/read-records.ts'
import { clientApis, servedApis } from './version.rows.ts'

const SCHEMA = described(
  z.object({
    _links: Links,
    apiAddresses: z.record(
      z.string(),
      z.array(
        described(z.object({ url: z.string(), version: z.string() }), {
          url: 'The URL of the API.',
          version: 'The version of the API.',
        }),
      ),
    ),
    certPem: z.string(),
    createdAt: z.iso.datetime(),
    ctrlAddress: z.string().optional(),
    fingerprint: z.string(),
    id: z.string(),
    isOnline: z.boolean(),
    isPreferredLeader: z.boolean().optional(),
    lastJoinedAt: z.iso.datetime(),
    name: z.string(),
    tags: Tags,
    updatedAt: z.iso.datetime(),
  }),
  {
    apiAddresses: 'Where its APIs are found, by the name of the API.',
    certPem: 'The certificate of the controller, PEM.',
    ctrlAddress: 'Where other controllers reach it; absent without a cluster.',
    fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits.',
    isOnline: 'True while the controller is connected.',
    isPreferredLeader: 'True for the controller that should lead a cluster; absent without a cluster.',
    lastJoinedAt: 'When the controller last started, RFC 3339.',
  },
)

/** A controller of the network. */
export interface ControllerData extends z.input<typeof SCHEMA> {}
export const Controller: z.ZodType<ControllerData, ControllerData> = SCHEMA

const SYMBOLS: SymbolTable = {
  id: { field: 'id', kind: 'string' },
  createdAt: { field: 'createdAt', kind: 'instant' },
  updatedAt: { field: 'updatedAt', kind: 'instant' },
  tags: { field: 'tags', kind: 'json' },
  name: { field: 'name', kind: 'string' },
  ctrlAddress: { field: 'ctrlAddress', kind: 'string' },
  certPem: { field: 'certPem', kind: 'string' },
  fingerprint: { field: 'fingerprint', kind: 'string' },
  isOnline: { field: 'isOnline', kind: 'boolean' },
  lastJoinedAt: { field: 'lastJoinedAt', kind: 'instant' },
  isPreferredLeader: { field: 'isPreferredLeader', kind: 'boolean' },
  isSystem: { field: 'isSystem', kind: 'boolean' },
}

/** The controllers of the network: this one. Clients take addresses from here, so only controllers that answer are listed. */
export const clientControllers = controllersFor('authenticated', clientApis)
export const managementControllers = controllersFor({ entity: 'controllers', action: 'read' }, servedApis)

function controllersFor(access: Access, apisOf: typeof clientApis) {
  return defineOperation(
    {
      route: 'GET /controllers',
      summary: 'Lists the controllers of the network',
      access,
      data: Controller,
      symbols: SYMBOLS,
    },
    async ({ engine, find }) => {
      const controller = await thisController(engine, apisOf)
      const { items, totalCount } = pageOf([{ ...controller, isSystem: false }], find)
      return { page: { items: items.map(() => shownController(controller)), totalCount } }
    },
  )
}

/** The facts that an engine shows of its controller: declarations of typed clients reach no more of it. */
interface ToldEngine {
  readonly startedAt: number
  readonly network: {
    readonly address: string
    readonly hasOpenId: boolean
    serverCertificate(): Promise<{ readonly fingerprint: string; readonly pem: string }>
  }
}

/** The controllers of the network as clients see them: a device that enrolls gets its addresses from here. */
export async function controllersForClients(engine: ToldEngine) {
  return [shownController(await thisController(engine, clientApis))]
}

/** This controller, with some of the APIs that it serves; instants are epoch milliseconds. */
export async function thisController(engine: ToldEngine, apisOf: typeof clientApis) {
  const { network } = engine
  const { fingerprint, pem } = await network.serverCertificate()
  const apiAddresses = Object.entries(apisOf(network.hasOpenId)).map(([api, base]) => [
    api,
    [{ url: `https://${network.address}${base}`, version: 'v1' }],
  ])
  return {
    id: CONTROLLER_ID,
    name: 'controller',
    _links: { self: { href: `./controllers/${CONTROLLER_ID}` } },
    apiAddresses: Object.fromEntries(apiAddresses),
    certPem: pem,
    fingerprint,
    isOnline: true,
    tags: {},
    createdAt: engine.startedAt,
    updatedAt: engine.startedAt,
    lastJoinedAt: engine.startedAt,
  }
}

/** The same in its wire form. */
function shownController(controller: Awaited<ReturnType<typeof thisController>>) {
  const { createdAt, updatedAt, lastJoinedAt, ...rest } = controller
  return {
    ...rest,
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
    lastJoinedAt: instant(lastJoinedAt),
  }
}
