import { z } from 'zod'
import { type GraphMembers, PageCursor, PartOfName } from '../../facts/insight/graph/graph.resource.ts'
import {
  type AccessMap,
  FINDING_KINDS,
  type Finding,
  FindingsRequest,
  MapRequest,
  type Reach,
  ReachRequest,
  ScopeText,
} from '../../facts/insight/reach/reach.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'
import { Count } from './search.rows.ts'

const AccessType = z.enum(['Dial', 'Bind'])
const Named = described(z.object({ id: z.string(), name: z.string() }), { name: 'The name of the entity.' })
const PAGE = {
  text: 'Only entities whose name holds this text, in any case.',
  limit: 'How many to answer at most, up to 200; 50 by default.',
  cursor: 'The `nextCursor` of the page before; absent for the first page.',
}

const MembersData: z.ZodType<GraphMembers, GraphMembers> = described(
  z.object({
    count: z.int(),
    members: z.array(
      described(Named.extend({ status: z.enum(['online', 'offline', 'unknown']).nullable() }), {
        status: 'Whether it is connected; null for services.',
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  {
    count: 'How many members the group has.',
    members: 'The members of the page, by name.',
    nextCursor: 'Where the next page begins; null on the last page.',
  },
)

const ReachData: z.ZodType<Reach, Reach> = described(
  z.object({
    kind: z.enum(['identities', 'services']),
    entity: Named,
    counts: described(z.object({ dial: z.int(), bind: z.int() }), {
      dial: 'How many of them by Dial.',
      bind: 'How many of them by Bind.',
    }),
    reached: z.array(
      described(
        Named.extend({
          types: z.array(AccessType),
          policies: z.array(
            described(Named.extend({ type: AccessType, isGuarded: z.boolean() }), {
              type: 'What it grants.',
              isGuarded: 'Whether it asks for a state of the endpoint.',
            }),
          ),
          status: z.enum(['online', 'offline', 'unknown']).nullable(),
        }),
        {
          id: 'The id of the service, or of the identity.',
          types: 'The kinds of access, posture and edge routers aside.',
          policies: 'The service policies that grant it.',
          status: 'Whether an identity is connected; null for services.',
        },
      ),
    ),
    nextCursor: z.string().nullable(),
  }),
  {
    kind: 'Whether this is of an identity or of a service.',
    entity: 'The identity or the service.',
    counts: 'How many it reaches, or is reached by.',
    reached: 'The services that the identity reaches, or the identities that reach the service, by name.',
    nextCursor: 'Where the next page begins; null on the last.',
  },
)

/** Lists the identities that reach one service, or the services that one identity reaches. */
export const reachOperation = defineOperation(
  {
    route: 'GET /reach',
    summary: 'Lists the services that an identity reaches, or the identities that reach a service, with the policies',
    description: 'Posture counts for nothing. Takes the right to read identities, services and service policies.',
    access: { entity: 'service-policy', action: 'read' },
    reads: ['service-policy', 'identity', 'service'],
    isLong: true,
    query: described(
      ReachRequest.pick({ identity: true, service: true, type: true }).extend({
        text: PartOfName.optional(),
        limit: Count,
        cursor: PageCursor.optional(),
      }),
      {
        identity: 'The identity, by id or name; exactly one of this and `service` is given.',
        service: 'The service, by id or name.',
        type: 'Only those by Dial, or by Bind; both by default.',
        ...PAGE,
      },
    ),
    data: ReachData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, query }) => ({ data: await engine.graphs.reach(call, query) }),
)

const Side = described(
  z.object({
    count: z.int(),
    groups: z.array(
      described(
        z.object({
          scope: z.string(),
          roleAttributes: z.array(z.string()),
          count: z.int(),
          isRest: z.boolean(),
          entity: Named.nullable(),
        }),
        {
          scope:
            'By which its members, or its own groups, are asked for; of an entity, the scope that it was found in.',
          roleAttributes:
            'Role attributes, the most frequent first: each member has one of them. Members of a rest share all of them.',
          count: 'How many members it has.',
          isRest: 'Whether it holds the entities without the role attributes of the other groups.',
          entity: 'The entity that stands alone; null for a group.',
        },
      ),
    ),
    properties: z.array(
      described(z.object({ roleAttributes: z.array(z.string()), roleAttributeCount: z.int(), count: z.int() }), {
        roleAttributes: 'The most frequent of its role attributes, which hardly any entity has together.',
        roleAttributeCount: 'How many role attributes it has.',
        count: 'How many entities have one of them.',
      }),
    ),
    property: z.int(),
  }),
  {
    count: 'How many are in the scope.',
    groups: 'The entities by name where there are few. Otherwise the groups, the largest first; each entity is in one.',
    properties: 'By which the scope can be divided.',
    property: 'The place of the property by which it is divided; -1 for entities, and where no property divides.',
  },
)

const Selected = z.array(
  described(z.object({ group: z.int(), count: z.int() }), {
    group: 'The place of the group.',
    count: 'How many of its members the policy selects.',
  }),
)

const MapData: z.ZodType<AccessMap, AccessMap> = described(
  z.object({
    revision: z.int(),
    type: AccessType,
    identities: Side,
    services: Side,
    links: z.array(
      described(
        z.object({
          from: z.int(),
          to: z.int(),
          pairs: z.int(),
          policies: z.array(Named),
          policyCount: z.int(),
          isGuarded: z.boolean(),
        }),
        {
          from: 'The place of the group of identities.',
          to: 'The place of the group of services.',
          pairs: 'How many pairs of members it stands for.',
          policies: 'The first of the service policies behind it.',
          policyCount: 'How many there are.',
          isGuarded: 'Whether every one of them asks for a state of the endpoint.',
        },
      ),
    ),
    policies: z.array(
      described(Named.extend({ isGuarded: z.boolean(), identities: Selected, services: Selected }), {
        isGuarded: 'Whether it asks for a state of the endpoint.',
        identities: 'The groups of identities that it selects members of.',
        services: 'The groups of services that it selects members of.',
      }),
    ),
    policyCount: z.int(),
  }),
  {
    revision: 'The revision of the network that is shown.',
    type: 'Which access is shown.',
    identities: 'The identities.',
    services: 'The services.',
    links: 'Which groups reach which.',
    policies: 'The policies that grant most pairs, as many as were asked for.',
    policyCount: 'How many policies grant any pair.',
  },
)

const SCOPE = 'as `scope` of an answer has it, or a JSON list of steps `{"any": [ATTRIBUTE], "none": [ATTRIBUTE]}`'

/** Shows the access to dial or bind between a few groups. */
export const accessMapOperation = defineOperation(
  {
    route: 'GET /access-map',
    summary:
      'Shows who may dial or bind what, by name or in a few groups, by the role attributes that tell best apart whom policies select',
    description:
      'Each role attribute of a property is a group; the smallest stand together, in ranges by name. The scope of a group opens it. ' +
      'Posture counts for nothing. Takes the right to read identities, services and service policies.',
    access: { entity: 'service-policy', action: 'read' },
    reads: ['service-policy', 'identity', 'service'],
    isLong: true,
    query: described(
      z.object({
        identities: ScopeText.optional(),
        services: ScopeText.optional(),
        type: AccessType.optional(),
        groups: Count,
        identitiesBy: MapRequest.shape.identitiesBy,
        servicesBy: MapRequest.shape.servicesBy,
        policies: Count,
      }),
      {
        identities: `Which identities are shown: ${SCOPE}; all by default.`,
        services: `Which services are shown: ${SCOPE}; all by default.`,
        type: 'Which access is shown; Dial by default.',
        groups:
          'How many groups of each kind there are at most, a rest and up to four parts of it aside, 2 to 40; 40 by default. ' +
          'A kind with no more entities than that is answered by name.',
        identitiesBy:
          'A role attribute: identities are divided by it and by the role attributes that hardly any identity has with it. ' +
          'The property that separates best is used by default.',
        servicesBy: 'The same for services.',
        policies: 'How many policies are answered with the groups that they select, up to 40; 0 by default.',
      },
    ),
    data: MapData,
  },
  async ({ engine, call, query }) => ({ data: await engine.graphs.map(call, query) }),
)

/** The members of a group of the access map. */
export const accessMapMembersOperation = defineOperation(
  {
    route: 'GET /access-map/members',
    summary: 'Lists who has the role attributes of a scope, by name',
    access: 'delegate',
    isLong: true,
    query: described(
      z.object({
        kind: z.enum(['identities', 'services', 'edge-routers']),
        scope: ScopeText.optional(),
        text: PartOfName.optional(),
        limit: Count,
        cursor: PageCursor.optional(),
      }),
      { kind: 'The kind of the members.', scope: `The scope, ${SCOPE}; everybody by default.`, ...PAGE },
    ),
    data: MembersData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, query }) => ({ data: await engine.graphs.mapMembers(call, query) }),
)

const FindingsData: z.ZodType<readonly Finding[], readonly Finding[]> = z.array(
  described(
    z.object({
      finding: z.enum(FINDING_KINDS),
      count: z.int(),
      judged: z.int(),
      entities: z.array(
        described(Named.extend({ kind: z.string(), at: z.iso.datetime().nullable(), detail: z.string().nullable() }), {
          kind: 'The resource, for example `services`.',
          at: 'When it ends, ended, or was seen last, RFC 3339; null for a finding without an instant.',
          detail: 'Further words about the entity, such as its version; null without any.',
        }),
      ),
      nextCursor: z.string().nullable(),
    }),
    {
      finding: 'What is found.',
      count: 'How many entities it is true of, up to a thousand for findings by time.',
      judged: 'How many entities were judged at least: 0 where there is nothing that could be found.',
      entities: 'The first of them by name, or a page of them.',
      nextCursor: 'Where the next page of this finding begins; null on the last.',
    },
  ),
)

/** The operation that finds oddities. */
export const findingsOperation = defineOperation(
  {
    route: 'GET /findings',
    summary:
      'Finds what is probably not meant so: who reaches nothing, what nobody reaches, what is offline or runs out',
    description: 'Of the kinds that the caller may read. Posture counts for nothing.',
    access: 'delegate',
    isLong: true,
    query: described(
      z.object({ finding: FindingsRequest.shape.finding, limit: Count, cursor: PageCursor.optional() }),
      {
        finding: 'Only this finding, page by page; all of them with the first of each by default.',
        limit: 'How many entities of a finding to answer at most, up to 200; 5 by default.',
        cursor: 'The `nextCursor` of the page before; absent for the first page.',
      },
    ),
    data: FindingsData,
  },
  async ({ engine, call, query }) => ({ data: await engine.graphs.findings(call, query) }),
)
