import { z } from 'zod'
import type { AccessMatrix, FoundNames, GraphMembers, NetworkGraph } from '../../facts/insight/graph/graph.resource.ts'
import { described } from '../../kernel/declaration/words.ts'

/** A schema whose type has a name: what typed clients read of it is that. */
type Named<T> = z.ZodType<T, T>

const LinkType = z.enum(['Dial', 'Bind', 'edge-router', 'service-edge-router'])
const GroupedKind = z.enum(['identities', 'services', 'edge-routers'])
const Grouping = z.enum(['role-attribute', 'policy'])
const AccessType = z.enum(['Dial', 'Bind'])
const Entity = described(z.object({ id: z.string(), name: z.string() }), {})
const IS_GUARDED = 'Whether every one of the policies asks for a state of the endpoint.'

const Group = described(
  z.object({
    key: z.string(),
    kind: GroupedKind,
    roleAttributes: z.array(z.string()),
    roleAttributeCount: z.int(),
    count: z.int(),
    isRest: z.boolean(),
  }),
  {
    key: 'By which its members are asked for; the same as long as the group is.',
    kind: 'The kind of its members.',
    roleAttributes: 'Role attributes that all members have, at most 32 of them.',
    roleAttributeCount: 'How many role attributes all members have.',
    count: 'How many members it has.',
    isRest: 'True of the group of everybody who is in none of the largest ones.',
  },
)

const Policy = described(z.object({ id: z.string(), name: z.string(), type: LinkType, isGuarded: z.boolean() }), {
  type: 'What it grants: Dial, Bind, or edge routers to identities or to services.',
  isGuarded: 'Whether it asks for a state of the endpoint.',
})

const Link = described(
  z.object({
    from: z.int(),
    to: z.int(),
    type: LinkType,
    pairs: z.int(),
    policies: z.array(z.int()),
    policyCount: z.int(),
    isGuarded: z.boolean(),
  }),
  {
    from: 'The place of a group in `groups`.',
    to: 'The place of another one.',
    type: 'What the members of the one may do with those of the other.',
    pairs: 'How many pairs of members are linked; all of them where it is the product of both counts.',
    policies: 'Places in `policies`, at most 5 of them.',
    policyCount: 'How many policies link them.',
    isGuarded: IS_GUARDED,
  },
)

/** The data of GET /graph. */
export const GraphData: Named<NetworkGraph> = described(
  z.object({
    revision: z.int(),
    groupBy: Grouping,
    kinds: z.array(z.string()),
    groups: z.array(Group),
    policies: z.array(Policy),
    links: z.array(Link),
    linkCount: z.int(),
  }),
  {
    revision: 'The revision of the store that is drawn.',
    groupBy: 'What the members of a group have in common.',
    kinds: 'The kinds of entities and policies that the caller may read.',
    groups: 'The groups of each kind, the largest first.',
    policies: 'The policies that links name.',
    links: 'Which groups are linked; of more than 4000 those with most pairs.',
    linkCount: 'How many links there are.',
  },
)

/** The data of GET /graph/members. */
export const MembersData: Named<GraphMembers> = described(
  z.object({
    count: z.int(),
    members: z.array(
      described(Entity.extend({ status: z.enum(['online', 'offline', 'unknown']).nullable() }), {
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

const Cell = described(
  z.object({
    identity: z.int(),
    service: z.int(),
    type: AccessType,
    policyCount: z.int(),
    isGuarded: z.boolean(),
  }),
  {
    identity: 'The place in `identities`.',
    service: 'The place in `services`.',
    type: 'What the identity may do with the service.',
    policyCount: 'How many policies grant it.',
    isGuarded: IS_GUARDED,
  },
)

/** The data of GET /matrix. */
export const MatrixData: Named<AccessMatrix> = described(
  z.object({
    identities: z.array(Entity),
    services: z.array(Entity),
    cells: z.array(Cell),
    nextIdentities: z.string().nullable(),
    nextServices: z.string().nullable(),
  }),
  {
    identities: 'The rows, by name.',
    services: 'The columns, by name.',
    cells: 'What is granted; nothing is where there is no cell.',
    nextIdentities: 'Where the next rows begin; null after the last.',
    nextServices: 'Where the next columns begin; null after the last.',
  },
)

/** The data of GET /search. */
export const NamesData: Named<FoundNames> = described(
  z.object({
    entities: z.array(
      described(
        Entity.extend({ kind: z.string(), roleAttributes: z.array(z.string()), group: z.string().nullable() }),
        {
          kind: 'The collection that it is in, for example `service-policies`.',
          roleAttributes: 'Role attributes that it has, at most 8 of them.',
          group: 'The key of its group by role attributes, which may be drawn with the rest; null for what is in none.',
        },
      ),
    ),
    roleAttributes: z.array(
      described(
        z.object({
          kind: z.enum(['identities', 'services', 'edge-routers', 'posture-checks']),
          roleAttribute: z.string(),
          count: z.int(),
        }),
        {
          kind: 'What has it.',
          roleAttribute: 'The role attribute, without `#`.',
          count: 'How many have it.',
        },
      ),
    ),
    isPartial: z.boolean(),
  }),
  {
    entities: 'What is called so.',
    roleAttributes: 'Role attributes that are called so.',
    isPartial:
      'Whether there are names that do not begin with the text and that were not looked at: there are too many.',
  },
)
