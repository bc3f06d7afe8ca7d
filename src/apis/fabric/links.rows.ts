import { z } from 'zod'
import type { ControllerEngine } from '../../engine/engine.ts'
import { LinkPatch } from '../../facts/fabric/links.resource.ts'
import { type Link, linkCost } from '../../facts/fabric/rules/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { EntityRef } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { SymbolTable } from '../../kernel/filter/index.ts'
import { pageOf } from '../../records/read-records.ts'
import { referenceTo } from './fabric-routers.rows.ts'

const NANOSECONDS = 1_000_000

const LinkData = described(
  z.object({
    id: z.string(),
    sourceRouter: EntityRef,
    destRouter: EntityRef,
    protocol: z.string(),
    dialAddress: z.string(),
    iteration: z.int(),
    cost: z.int(),
    staticCost: z.int(),
    sourceLatency: z.int(),
    destLatency: z.int(),
    state: z.string(),
    down: z.boolean(),
    connections: z.array(
      described(z.object({ type: z.string(), source: z.string(), dest: z.string() }), {
        type: 'The kind of traffic that it carries, as `link.default`.',
        source: 'Its address at the router that dialed.',
        dest: 'Its address at the other router.',
      }),
    ),
  }),
  {
    id: 'The id that the router which dialed gave it.',
    sourceRouter: 'The router that dialed.',
    destRouter: 'The router that was dialed.',
    protocol: 'The protocol, as `tls`.',
    dialAddress: 'The address that was dialed.',
    iteration: 'How often it was dialed.',
    cost: 'Its cost for a path: the static cost and the latency of both ends in milliseconds.',
    staticCost: 'Its cost beside its latency.',
    sourceLatency: 'The latency in nanoseconds as the router measured that dialed; 65 s while it did not.',
    destLatency: 'The same at the other router.',
    state: '`Connected`; links that are over are not listed.',
    down: 'True for a link that was taken out of use.',
    connections: 'The connections that it consists of.',
  },
)

const SYMBOLS: SymbolTable = {
  id: { field: 'id', kind: 'string' },
  protocol: { field: 'protocol', kind: 'string' },
  dialAddress: { field: 'dialAddress', kind: 'string' },
  sourceRouter: { field: 'source', kind: 'string' },
  destRouter: { field: 'target', kind: 'string' },
  cost: { field: 'cost', kind: 'number' },
  staticCost: { field: 'staticCost', kind: 'number' },
  sourceLatency: { field: 'sourceLatency', kind: 'number' },
  destLatency: { field: 'destLatency', kind: 'number' },
  state: { field: 'state', kind: 'string' },
  iteration: { field: 'iteration', kind: 'number' },
}

/** The links between routers. */
export const linkOperations = {
  list: defineOperation(
    {
      route: 'GET /links',
      summary: 'Lists the links between routers',
      access: { entity: 'ops', action: 'read' },
      data: LinkData,
      symbols: SYMBOLS,
    },
    async ({ engine, find }) => {
      const { items, totalCount } = pageOf(engine.dataPlane.links().map(measured), find)
      const names = await namesIn(engine, items)
      return { page: { items: items.map((link) => shown(link, names)), totalCount } }
    },
  ),
  get: defineOperation(
    {
      route: 'GET /links/{id}',
      summary: 'Shows one link',
      access: { entity: 'ops', action: 'read' },
      data: LinkData,
    },
    async ({ engine, params }) => {
      const link = measured(await engine.dataPlane.link(params.id))
      return { data: shown(link, await namesIn(engine, [link])) }
    },
  ),
  patch: defineOperation(
    {
      route: 'PATCH /links/{id}',
      summary: 'Changes what one link costs, or takes it out of use',
      description: 'Lasts as long as this controller knows the link. Circuits take no way over a link that is down.',
      access: { entity: 'ops', action: 'update' },
      body: LinkPatch,
    },
    async ({ engine, params, request }) => done(engine.dataPlane.changeLink(params.id, request)),
  ),
  delete: defineOperation(
    {
      route: 'DELETE /links/{id}',
      summary: 'Cuts one link',
      description:
        'Both routers close it, and circuits take another way. The router that dialed it may dial again. A link that nobody knows ' +
        'is over already: 404 is answered only where it may be one of another process.',
      access: { entity: 'ops', action: 'delete' },
      errors: ['NOT_FOUND'],
    },
    async ({ engine, params }) => done(engine.dataPlane.cutLink(params.id)),
  ),
} as const

type Measured = ReturnType<typeof measured>

function measured(link: Link) {
  const { sourceLatencyMs, targetLatencyMs } = link
  return {
    ...link,
    cost: linkCost(link),
    sourceLatency: Math.round(sourceLatencyMs * NANOSECONDS),
    destLatency: Math.round(targetLatencyMs * NANOSECONDS),
    state: 'Connected',
  }
}

function namesIn(engine: ControllerEngine, links: readonly Measured[]): Promise<ReadonlyMap<string, string>> {
  const routers = links.flatMap(({ source, target }) => [source, target])
  return engine.dataPlane.names(routers, [])
}

function shown(link: Measured, names: ReadonlyMap<string, string>) {
  const { id, protocol, dialAddress, iteration, cost, staticCost, sourceLatency, destLatency, state, isDown } = link
  return {
    id,
    sourceRouter: referenceTo('routers', link.source, names.get(link.source)),
    destRouter: referenceTo('routers', link.target, names.get(link.target)),
    protocol,
    dialAddress,
    iteration,
    cost,
    staticCost,
    sourceLatency,
    destLatency,
    state,
    down: isDown,
    connections: link.connections.map(({ type, source, target }) => ({ type, source, dest: target })),
  }
}
