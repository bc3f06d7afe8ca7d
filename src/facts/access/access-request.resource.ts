import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { EntityRef, Id, Instant, narrowed, Roles } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import { LONGEST_REQUEST_MS, REQUEST_STATES, SHORTEST_REQUEST_MS } from './access-request.rules.ts'

const MOST_REASON = 1024

const DEFINITION = {
  name: 'access-requests',
  singular: 'access request',
  storeName: 'accessRequests',
  permission: 'service-policy',
  writable: {},
  system: {
    identityId: Id,
    service: z.string(),
    serviceId: Id.nullable(),
    type: z.enum(['Dial', 'Bind']),
    durationMs: z.int(),
    reason: z.string(),
    state: z.enum(REQUEST_STATES),
    expiresAt: Instant,
    /** `expiresAt` while the request is open; the last possible date afterwards. */
    dueAt: Instant,
    decidedAt: Instant.nullable(),
    decidedBy: z.string().nullable(),
    note: z.string().nullable(),
    until: Instant.nullable(),
    policyId: Id.nullable(),
  },
  derived: {
    serviceFound: EntityRef.nullable(),
    decidedBy: z.string().nullable(),
    policyId: Id.nullable(),
  },
  hidden: ['serviceId', 'dueAt', 'decidedBy', 'policyId'],
  plain: ['serviceId', 'decidedBy', 'policyId'],
  required: [],
  isWrittenByEndpoints: true,
  indexed: ['identityId', 'state', 'dueAt'],
  references: { identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' } },
  // A filter by them would tell a requester which services there are.
  symbols: { serviceId: null, dueAt: null, decidedBy: null, policyId: null },
  operations: ['list', 'get'],
} as const satisfies ResourceDefinition

/** The wish of an identity for access to a service for some time, and what was decided. */
export interface AccessRequests extends Resource<typeof DEFINITION> {}
export const accessRequests: AccessRequests = defineResource(DEFINITION, {
  identityId: 'The id of the identity that asks for itself.',
  service: 'The name or the id of the service, as the request has it. There may be no such service.',
  type: 'The right that is asked for: `Dial` or `Bind`.',
  durationMs: 'For how long the access is asked for, in milliseconds.',
  reason: 'Why, for people.',
  state:
    'Where the request stands: `open`, `approved`, `refused`, `withdrawn` by the identity, or `expired` without a decision.',
  expiresAt: 'When an open request ends by itself, RFC 3339.',
  decidedAt: 'When the request ceased to be open, RFC 3339; null before.',
  note: 'The note of the decision to the identity; null without a note.',
  until: 'When the approved access ends, RFC 3339; null unless it was approved.',
  serviceFound:
    'The service, for callers that may decide the request; null for every other caller, and where there is no such service.',
  decidedBy:
    'The name of the identity that decided, for callers that may decide; null for every other caller, and for the rule of the host.',
  policyId:
    'The id of the service policy that the approval made, for callers that may decide; null for every other caller.',
})

/** A request for access. */
export interface AccessRequestCreate {
  /** The name or the id of a service. */
  readonly service: string
  /** `Dial` by default. */
  readonly type?: 'Dial' | 'Bind'
  /** Milliseconds: a minute to 30 days. */
  readonly durationMs: number
  /** Why, for people: at most 1,024 characters. */
  readonly reason: string
}

/** POST /access-requests. */
export const AccessRequestCreation = narrowed<AccessRequestCreate>()(
  described(
    z.object({
      service: z.string().min(1).max(1024),
      type: z.enum(['Dial', 'Bind']).default('Dial'),
      durationMs: z.int().min(SHORTEST_REQUEST_MS).max(LONGEST_REQUEST_MS),
      reason: z.string().trim().min(1).max(MOST_REASON),
    }),
    {
      service: 'The name or the id of the service. The answer is the same whether or not there is such a service.',
      type: 'The right that is asked for: `Dial` (the default) to connect, `Bind` to host.',
      durationMs: 'For how long, in milliseconds: a minute to 30 days.',
      reason: 'Why, for people: at most 1,024 characters.',
    },
  ),
)

/** An approval of a request. */
export interface AccessApproval {
  /** Milliseconds from the approval on, a minute at least and no more than was asked for. Default: as long as was asked for. */
  readonly durationMs?: number | undefined
  /** A note to the identity, at most 1,024 characters. */
  readonly note?: string | undefined
  /** Which posture checks have to pass, such as `#corp`. Default: no check. */
  readonly postureCheckRoles?: readonly string[] | undefined
}

const Note = z.string().max(MOST_REASON).optional()

/** POST /access-requests/{id}/approve. */
export const AccessApprovalRequest = described(
  z.object({
    durationMs: z.int().min(SHORTEST_REQUEST_MS).max(LONGEST_REQUEST_MS).optional(),
    note: Note,
    postureCheckRoles: Roles.optional(),
  }),
  {
    durationMs:
      'For how long from now on, in milliseconds: a minute at least, and no more than was asked for. As long as was asked for where it is left out.',
    note: 'A note to the identity, at most 1,024 characters.',
    postureCheckRoles: 'Which posture checks have to pass: `#attribute`, or `@` and an id. None where it is left out.',
  },
)

/** A refusal of a request. */
export interface AccessRefusal {
  /** A note to the identity, at most 1,024 characters. */
  readonly note?: string | undefined
}

/** POST /access-requests/{id}/refuse. */
export const AccessRefusalRequest = described(z.object({ note: Note }), {
  note: 'A note to the identity, at most 1,024 characters.',
})
