import { z } from 'zod'
import {
  type AccessMatrix,
  type FoundNames,
  type GraphMembers,
  GroupKey,
  type NetworkGraph,
  PageCursor,
  PartOfName,
} from '../../facts/insight/graph/graph.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'
import { GraphData, MatrixData, MembersData, NamesData } from './graph-schema.rows.ts'

/** A count in a query; the engine knows its bounds. */
export const Count = z
  .string()
  .regex(/^\d{1,9}$/)
  .meta({ type: 'integer' })
  .transform(Number)
  .optional()

/** Draws the network by groups. */
export const graphOperation = defineOperation(
  {
    route: 'GET /graph',
    summary: 'Draws who reaches what, by groups of identities, services and edge routers',
    description: 'Shows the kinds of entities and policies that the caller may read, and nothing of others.',
    access: 'delegate',
    isLong: true,
    query: described(z.object({ groupBy: z.enum(['role-attribute', 'policy']).optional(), groups: Count }), {
      groupBy:
        'What the members of a group have in common: all role attributes (default), or the policies that select them.',
      groups: 'How many groups of each kind there are at most, 2 to 100, 40 by default; the last holds all others.',
    }),
    data: GraphData,
  },
  async ({ engine, call, query }): Promise<{ readonly data: NetworkGraph }> => ({
    data: await engine.graphs.draw(call, query),
  }),
)

/** The members of a group of the graph. */
export const graphMembersOperation = defineOperation(
  {
    route: 'GET /graph/members',
    summary: 'Lists the members of a group of the graph, by name',
    access: 'delegate',
    isLong: true,
    query: described(
      z.object({ group: GroupKey, text: PartOfName.optional(), limit: Count, cursor: PageCursor.optional() }),
      {
        group: 'The key of the group.',
        text: 'Only members whose name holds this text, in any case.',
        limit: 'How many to answer at most, up to 200; 50 by default.',
        cursor: 'The `nextCursor` of the page before; absent for the first page.',
      },
    ),
    data: MembersData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, query }): Promise<{ readonly data: GraphMembers }> => ({
    data: await engine.graphs.members(call, query),
  }),
)

/** The operation that compares the members of two groups, one by one. */
export const matrixOperation = defineOperation(
  {
    route: 'GET /matrix',
    summary: 'Tells what the members of a group of identities may do with those of a group of services',
    description:
      'Rows and columns come in pages, by name. Posture counts for nothing. Takes the right to read all three kinds.',
    access: { entity: 'service-policy', action: 'read' },
    isLong: true,
    query: described(
      z.object({
        identities: GroupKey,
        services: GroupKey,
        limit: Count,
        identitiesAfter: PageCursor.optional(),
        servicesAfter: PageCursor.optional(),
      }),
      {
        identities: 'The key of the group of identities.',
        services: 'The key of the group of services.',
        limit: 'How many of each to answer at most, up to 200; 50 by default.',
        identitiesAfter: 'The `nextIdentities` of the page before; absent for the first rows.',
        servicesAfter: 'The `nextServices` of the page before; absent for the first columns.',
      },
    ),
    data: MatrixData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, query }): Promise<{ readonly data: AccessMatrix }> => ({
    data: await engine.graphs.matrix(call, query),
  }),
)

/** Finds entities and role attributes by name. */
export const searchOperation = defineOperation(
  {
    route: 'GET /search',
    summary: 'Finds identities, services, edge routers, policies, posture checks, configs and role attributes by name',
    description:
      'In any case, names that begin with the text first; of the kinds that the caller may read. Of names that do not begin with ' +
      'the text `limits.namesSearched` of a kind are looked at, 250,000 by default.',
    access: 'delegate',
    isLong: true,
    query: described(z.object({ q: PartOfName, limit: Count }), {
      q: 'A part of the name; one that begins with `#` finds role attributes alone.',
      limit: 'How many of each kind to answer at most, up to 200; 50 by default.',
    }),
    data: NamesData,
  },
  async ({ engine, call, query }): Promise<{ readonly data: FoundNames }> => ({
    data: await engine.graphs.search(call, query),
  }),
)
