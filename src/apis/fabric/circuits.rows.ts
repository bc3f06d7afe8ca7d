import { z } from 'zod'
import { instant } from '../../base/time.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { CircuitView } from '../../facts/fabric/messages/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { EntityRef } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { SymbolTable } from '../../kernel/filter/index.ts'
import { pageOf } from '../../records/read-records.ts'
import { referenceTo } from './fabric-routers.rows.ts'

const CircuitData = described(
  z.object({
    id: z.string(),
    clientId: z.string(),
    service: EntityRef,
    terminator: EntityRef,
    path: described(z.object({ nodes: z.array(EntityRef), links: z.array(EntityRef) }), {
      nodes: 'The routers that it passes, in order.',
      links: 'The links between them, in order.',
    }),
    tags: z.record(z.string(), z.string()),
    createdAt: z.iso.datetime(),
  }),
  {
    id: 'The id of the circuit.',
    clientId: 'The id of the identity that dialed.',
    service: 'The service that it leads to.',
    terminator: 'The terminator at which it leaves the network.',
    path: 'The way that it takes now.',
    tags: 'Facts that routers report with its use: the ids of service, client and host.',
    createdAt: 'When it was dialed, RFC 3339.',
  },
)

const SYMBOLS: SymbolTable = {
  id: { field: 'id', kind: 'string' },
  clientId: { field: 'clientId', kind: 'string' },
  service: { field: 'serviceId', kind: 'string' },
  terminator: { field: 'terminatorId', kind: 'string' },
  createdAt: { field: 'createdAt', kind: 'instant' },
}

/** The open circuits of every process over the store. */
export const circuitOperations = {
  list: defineOperation(
    {
      route: 'GET /circuits',
      summary: 'Lists the open circuits',
      access: { entity: 'ops', action: 'read' },
      data: CircuitData,
      symbols: SYMBOLS,
    },
    async ({ engine, find }) => {
      const { items, totalCount } = pageOf(await engine.dataPlane.circuits(), find)
      const names = await namesIn(engine, items)
      return { page: { items: items.map((circuit) => shown(circuit, names)), totalCount } }
    },
  ),
  get: defineOperation(
    {
      route: 'GET /circuits/{id}',
      summary: 'Shows one circuit',
      access: { entity: 'ops', action: 'read' },
      data: CircuitData,
    },
    async ({ engine, params }) => {
      const circuit = await engine.dataPlane.circuit(params.id)
      return { data: shown(circuit, await namesIn(engine, [circuit])) }
    },
  ),
  delete: defineOperation(
    {
      route: 'DELETE /circuits/{id}',
      summary: 'Ends one circuit',
      access: { entity: 'ops', action: 'delete' },
      body: described(z.object({ immediate: z.boolean().default(false) }), {
        immediate: 'True to cut what is under way; by default the circuit ends once it is quiet.',
      }),
      bodyOptional: true,
    },
    async ({ engine, params, body }) => done(engine.dataPlane.endCircuit(params.id, body?.immediate ?? false)),
  ),
} as const

function namesIn(engine: ControllerEngine, circuits: readonly CircuitView[]): Promise<ReadonlyMap<string, string>> {
  return engine.dataPlane.names(
    circuits.flatMap(({ path }) => path.routers),
    circuits.map(({ serviceId }) => serviceId),
  )
}

function shown(circuit: CircuitView, names: ReadonlyMap<string, string>) {
  const { id, clientId, serviceId, terminatorId, path, tags, createdAt } = circuit
  return {
    id,
    clientId,
    service: referenceTo('services', serviceId, names.get(serviceId)),
    terminator: referenceTo('terminators', terminatorId),
    path: {
      nodes: path.routers.map((router) => referenceTo('routers', router, names.get(router))),
      links: path.links.map((link) => referenceTo('links', link)),
    },
    tags,
    createdAt: instant(createdAt),
  }
}
