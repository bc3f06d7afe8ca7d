import { z } from 'zod'
import type { SymbolTable } from '../../domain/filter/index.ts'
import { pageOf } from '../../engine/records/page-of.ts'
import { Links, Tags } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation } from '../operations/define-operation.ts'
import type { Access } from '../operations/operation.ts'
import { clientApis, servedApis } from './served-apis.ts'
import { shownController, thisController } from './shown-controllers.ts'

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

/** The controllers of the network: this one. Clients take addresses from here, so only those that answer are listed. */
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
