import { z } from 'zod'
import type { ExplanationAnswer } from '../../facts/access/explain/explanation.resource.ts'
import {
  DIAL_FAILURE_CAUSES,
  DIAL_FAILURES,
  MISSING_KINDS,
  REASONS,
  SUGGESTION_KINDS,
  WIRE_OBSTACLES,
} from '../../facts/access/explain/index.ts'
import { PHASES } from '../../facts/access/policy-term.rules.ts'
import { POSTURE_CHECK_TYPE_IDS } from '../../facts/access/posture/rules/index.ts'
import { AttributeGrantSchema } from '../../facts/identities/attribute-grant.resource.ts'
import { described } from '../../kernel/declaration/words.ts'

const Named = described(z.object({ id: z.string(), name: z.string() }), { name: 'The name of the entity.' })
const Router = described(Named.extend({ isOnline: z.boolean() }), {
  isOnline: 'True while the edge router is connected.',
})
const Side = described(
  z.object({
    selects: z.boolean(),
    matched: z.array(
      described(
        z.object({
          role: z.string(),
          name: z.string(),
          fromDirectory: z.literal(true).optional(),
          fromClaims: z.literal(true).optional(),
          fromGrant: z.literal(true).optional(),
        }),
        {
          role: 'The entry as it was written.',
          name: 'The entry for people: `@` shows the name of the entity.',
          fromDirectory:
            'True where the entity has the role attribute by the directory of the host alone; absent otherwise.',
          fromClaims:
            'True where the entity has the role attribute by a claim of an external token alone; absent otherwise.',
          fromGrant: 'True where the entity has the role attribute by a grant alone; absent otherwise.',
        },
      ),
    ),
    lacking: z.array(z.string()),
    grants: z.array(AttributeGrantSchema).optional(),
  }),
  {
    selects: 'Whether the role list selects the entity.',
    matched: 'The entries that the entity answers to.',
    lacking: 'Role attributes with which the list would select it: all of them for `AllOf`, any one for `AnyOf`.',
    grants: 'Grants of role attributes by which the list selects the entity, or would later; absent without any.',
  },
)
const AccessType = z.enum(['Dial', 'Bind'])
const Check = described(
  Named.extend({
    typeId: z.enum(POSTURE_CHECK_TYPE_IDS),
    isPassing: z.boolean(),
    expected: z.unknown(),
    known: z.unknown(),
    missing: z.array(
      described(z.object({ kind: z.enum(MISSING_KINDS), path: z.string().optional() }), {
        kind: 'What is missing.',
        path: 'The path of the process that it is about; absent where it is about none.',
      }),
    ),
    holdsUntil: z.iso.datetime().nullable(),
  }),
  {
    id: 'The id of the posture check.',
    name: 'Its name.',
    typeId: 'The fact that it looks at.',
    isPassing: 'Whether it passes.',
    expected: 'The values that pass, of a shape by type.',
    known: 'The reported facts, of a shape by type; null without a report.',
    missing: 'The reasons why it does not pass; empty when it passes.',
    holdsUntil: 'When it fails by itself, RFC 3339; null when it does not.',
  },
)
const Term = described(
  z.object({
    phase: z.enum(PHASES),
    startsAt: z.iso.datetime().nullable(),
    until: z.iso.datetime().nullable(),
    reason: z.string().nullable(),
    givenBy: z.string().nullable(),
  }),
  {
    phase: 'Whether the policy grants at the instant of the question.',
    startsAt: 'When it begins to grant, RFC 3339; null where it grants at once.',
    until: 'When it ends to grant, RFC 3339; null where it does not end by itself.',
    reason: 'Why the access is given, for people; null without a reason.',
    givenBy: 'The name of the identity that gave it; null for the controller and its host.',
  },
)
const Policy = described(
  Named.extend({
    type: AccessType,
    semantic: z.enum(['AllOf', 'AnyOf']),
    identitySide: Side,
    serviceSide: Side,
    applies: z.boolean(),
    grants: z.boolean(),
    checks: z.array(Check),
    term: Term.nullable(),
  }),
  {
    id: 'The id of the service policy.',
    name: 'Its name.',
    type: 'What it grants.',
    semantic: 'Whether its role lists ask for all attributes or any.',
    identitySide: 'Its identity roles, held against the identity.',
    serviceSide: 'Its service roles, held against the service.',
    applies: 'Whether it selects both, is of the type in question and is in force: it decides then.',
    grants: 'Whether it applies and all its posture checks pass.',
    checks: 'Its posture checks, when it selects both.',
    term: 'Its term and the reason of its giver; null for a policy without either.',
  },
)
const Suggestion = described(
  z.object({
    kind: z.enum(SUGGESTION_KINDS),
    entities: z.array(
      described(Named.extend({ kind: z.string() }), { kind: 'The kind of the entity, as `identities`.' }),
    ),
    roleAttributes: z.array(z.string()).optional(),
    text: z.string(),
  }),
  {
    kind: 'What to do.',
    entities: 'The entities that it is about, most important first.',
    roleAttributes: 'The role attributes to add to the first entity, for `add-role-attributes`; absent otherwise.',
    text: 'The suggestion as a sentence.',
  },
)

const FailedDial = described(
  z.object({
    at: z.iso.datetime(),
    reason: z.enum(DIAL_FAILURES),
    cause: z.enum(DIAL_FAILURE_CAUSES).nullable(),
    router: Named.nullable(),
  }),
  {
    at: 'When it failed, RFC 3339.',
    reason: 'Why, as `circuit.failed` tells it.',
    cause: 'Why the router failed, for `routers-failed`; null otherwise.',
    router: 'The router that failed; null where none did, and where it is no edge router.',
  },
)
const Wire = described(
  z.object({
    worksNow: z.boolean(),
    obstacle: z.enum(WIRE_OBSTACLES).nullable(),
    hostRouters: z.array(Router),
    lastFailure: FailedDial.nullable(),
  }),
  {
    worksNow: 'Whether a connection that is made now gets through, as far as the controller knows.',
    obstacle: 'The first obstacle, in the order of this list; null where it works.',
    hostRouters: 'The first of the edge routers that its terminators are at.',
    lastFailure: 'The last dial of the identity to the service, if it failed and this process knows; null otherwise.',
  },
)

const Since = described(
  z.object({
    by: z.enum(['change', 'time', 'before']),
    at: z.iso.datetime(),
    policy: Named,
    change: described(
      z.object({
        id: z.string(),
        type: z.enum(['entity.created', 'entity.updated', 'entity.deleted']),
        entity: described(z.object({ kind: z.string(), id: z.string(), name: z.string().nullable() }), {
          kind: 'Its resource, for example `service-policies`.',
          name: 'Its name at that time.',
        }),
        actor: described(z.object({ id: z.string(), name: z.string().nullable() }), {
          name: 'Its name.',
        }).nullable(),
      }),
      {
        id: 'The id of the audit record.',
        type: 'What was done.',
        entity: 'The entity that was created or changed.',
        actor: 'The identity that did it; null for the controller, its host and its operator.',
      },
    ).nullable(),
  }),
  {
    by:
      '`change`: by a change of the policy, the identity or the service; `time`: since the time ended for which the identity ' +
      'was disabled; `before`: it was granted by then already, and the audit trail tells of nothing earlier.',
    at: 'Since when, RFC 3339.',
    policy: 'The policy that has granted it for longest, among the policies that grant it now.',
    change: 'The change that gave it; null where time did, and where the audit trail does not reach back as far.',
  },
)

/** The wire form of an explanation: as the engine gives it, with instants as RFC 3339 and the rendering beside it. */
export const ExplanationData: z.ZodType<ExplanationAnswer, ExplanationAnswer> = described(
  z.object({
    allowed: z.boolean(),
    reason: z.enum(REASONS),
    asked: described(z.object({ identity: z.string(), service: z.string() }), {
      identity: 'The identity, as the request named it.',
      service: 'The service, as the request named it.',
    }),
    type: AccessType,
    at: z.iso.datetime(),
    identity: Named.nullable(),
    service: Named.nullable(),
    apiSessionId: z.string().nullable(),
    policies: z.array(Policy),
    edgeRouters: described(
      z.object({
        ofIdentity: z.array(Router),
        ofService: z.array(Router),
        common: z.array(Router),
        online: z.array(Router),
      }),
      {
        ofIdentity: 'The edge routers that the identity may use.',
        ofService: 'The edge routers that the service may use.',
        common: 'The edge routers that both may use.',
        online: 'The common edge routers that are connected.',
      },
    ),
    hosts: described(z.object({ terminatorCount: z.int(), hosts: z.array(Named), mayBindCount: z.int() }), {
      terminatorCount: 'How many terminators it has; 0 where a dial leads nowhere.',
      hosts: 'The first of the identities that host it; routers host without one.',
      mayBindCount: 'How many identities may bind it, posture aside.',
    }).nullable(),
    wire: Wire.nullable(),
    holdsUntil: z.iso.datetime().nullable(),
    changesAt: z.iso.datetime().nullable(),
    since: Since.nullable(),
    suggestions: z.array(Suggestion),
    text: z.string(),
  }),
  {
    allowed: 'Whether the controller gives a session.',
    reason: 'Why, or why not: the first obstacle, in the order of this list.',
    asked: 'What was asked.',
    type: 'Whether the question was of dialing or of binding.',
    at: 'The instant that was judged, RFC 3339.',
    identity: 'The identity; null when there is none of the id or name.',
    service: 'The service; null when there is none of the id or name.',
    apiSessionId: 'The id of the API session whose second factor counted; null when the identity has none.',
    policies: 'The service policies that select the identity, the service or both; the deciding policies come first.',
    edgeRouters: 'The edge routers, grouped by whether the identity, the service or both may use them.',
    hosts: 'The identities that host the service, and the identities that may; null where there is no such service.',
    wire:
      'Whether what is allowed works now, by routers, links and terminators; null where no data plane is open, and where ' +
      'another instant or changes are in question.',
    holdsUntil: 'When posture takes the access away if nothing is reported, RFC 3339; null when it does not.',
    changesAt:
      'When the answer may change by itself, RFC 3339: by posture, or when the identity is enabled again; null when not.',
    since:
      'Since when service policies grant it without a break, posture and edge routers aside; null where it is not allowed, and ' +
      'where another instant or changes are in question.',
    suggestions: 'Changes that would give access, or would let it carry traffic.',
    text: 'The explanation for people, over several lines.',
  },
)
