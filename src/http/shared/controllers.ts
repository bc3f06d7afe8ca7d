import { z } from 'zod'
import type { SymbolTable } from '../../domain/filter/index.ts'
import { instant } from '../../domain/instant.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { pageOf } from '../../engine/page-of.ts'
import { Links, Tags } from '../../resources/fields.ts'
import { type Access, defineOperation } from '../operation.ts'
import { CLIENT_BASE, MANAGEMENT_BASE } from '../paths.ts'

const Controller = z.object({
  _links: Links,
  apiAddresses: z.record(z.string(), z.array(z.object({ url: z.string(), version: z.string() }))),
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
})

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
}

/** The controllers of the network: this one. Clients take addresses from here, so only those that answer are listed. */
export const clientControllers = controllersFor('authenticated', { 'edge-client': CLIENT_BASE })
export const managementControllers = controllersFor(
  { entity: 'controllers', action: 'read' },
  { 'edge-client': CLIENT_BASE, 'edge-management': MANAGEMENT_BASE },
)

function controllersFor(access: Access, bases: Readonly<Record<string, string>>) {
  return defineOperation(
    {
      route: 'GET /controllers',
      summary: 'Lists the controllers of the network',
      access,
      data: Controller,
      symbols: SYMBOLS,
    },
    async ({ engine, find }) => {
      const { items, totalCount } = pageOf([await thisController(engine, bases)], find)
      return { page: { items: items.map(shown), totalCount } }
    },
  )
}

async function thisController(engine: ControllerEngine, bases: Readonly<Record<string, string>>) {
  const { pki, settings } = engine.context
  const { fingerprint, pem } = await pki.serverCertificate()
  const apiAddresses = Object.entries(bases).map(([api, base]) => [
    api,
    [{ url: `https://${settings.address}${base}`, version: 'v1' }],
  ])
  return {
    id: 'controller',
    name: 'controller',
    _links: { self: { href: './controllers/controller' } },
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

function shown(controller: Awaited<ReturnType<typeof thisController>>) {
  const { createdAt, updatedAt, lastJoinedAt, ...rest } = controller
  return {
    ...rest,
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
    lastJoinedAt: instant(lastJoinedAt),
  }
}
