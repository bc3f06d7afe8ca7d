import { z } from 'zod'
import { instant } from '../../base/time.ts'
import { TraceRequest } from '../../facts/identities/identity.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import type { Operation } from '../../http/operations/operation.ts'
import { EntityRef } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

const PolicyAdvice = described(
  z.object({
    commonRouters: z.array(
      described(EntityRef.extend({ isOnline: z.boolean() }), {
        entity: 'Always `edge-routers`.',
        id: 'The id of the edge router.',
        isOnline: 'True while the edge router is connected.',
        name: 'The name of the edge router.',
      }),
    ),
    identity: EntityRef,
    identityId: z.string(),
    identityRouterCount: z.int(),
    isBindAllowed: z.boolean(),
    isDialAllowed: z.boolean(),
    service: EntityRef,
    serviceId: z.string(),
    serviceRouterCount: z.int(),
  }),
  {
    commonRouters: 'The edge routers that both may use.',
    identity: 'The identity, as a reference.',
    identityId: 'The id of the identity.',
    identityRouterCount: 'How many edge routers the identity may use.',
    isBindAllowed: 'Whether a service policy lets the identity host the service, posture and edge routers aside.',
    isDialAllowed: 'Whether a service policy lets the identity connect to the service, posture and edge routers aside.',
    service: 'The service, as a reference.',
    serviceId: 'The id of the service.',
    serviceRouterCount: 'How many edge routers the service may use.',
  },
)

const NEVER = '0001-01-01T00:00:00.000Z'

/** Finding out why an identity cannot reach a service: by its policies, and by tracing its data flow. */
export const identityAccessOperations = [
  defineOperation(
    {
      route: 'GET /identities/{id}/policy-advice/{serviceId}',
      summary: 'Tells what policies and edge routers let an identity use a service',
      description: 'Posture counts for nothing here; POST /explain of the Portcullis API counts it.',
      access: { entity: 'service', action: 'read' },
      data: PolicyAdvice,
    },
    async ({ engine, params }) => ({ data: await engine.access.advice(params.id, params.serviceId) }),
  ),
  defineOperation(
    {
      route: 'PUT /identities/{id}/trace',
      summary: 'Traces the data flow of an identity for a while, or no longer',
      description: 'Replaces the trace before. It is kept in memory by this controller, for the data plane to ask for.',
      access: { entity: 'identity', action: 'update' },
      body: TraceRequest,
      data: described(z.object({ enabled: z.boolean(), traceId: z.string(), until: z.iso.datetime() }), {
        enabled: 'Whether the identity is traced from now on.',
        traceId: 'The name of the trace; empty without one.',
        until: 'When the trace ends, RFC 3339; the year 1 without one.',
      }),
    },
    async ({ engine, call, params, request }) => {
      const trace = await engine.traces.set(call, params.id, request)
      if (trace === undefined) return { data: { enabled: false, traceId: '', until: NEVER } }
      return { data: { enabled: true, traceId: trace.traceId, until: instant(trace.until) } }
    },
  ),
] as const

/** The attribute itself is the only thing that a filter can name. */
const SYMBOLS = { id: { field: 'id', kind: 'string' } } as const

const KINDS = [
  ['edge-router', 'edge-routers'],
  ['identity', 'identities'],
  ['posture-check', 'posture-checks'],
  ['service', 'services'],
] as const

const Use = described(
  z.object({
    roleAttribute: z.string(),
    usage: z.record(
      z.string(),
      described(z.object({ count: z.int(), ids: z.array(z.string()).nullable() }), {
        count: 'How many there are.',
        ids: 'Their ids; null unless `withIds` asks for them.',
      }),
    ),
  }),
  { roleAttribute: 'The role attribute.', usage: 'How many have or select it, by kind of entity.' },
)

/** Role attributes that are in use. Skip and limit stand inside the filter; without a limit all are answered. */
export const roleAttributeOperations: readonly Operation[] = KINDS.flatMap(([word, kind]) => {
  const access = { entity: resourceNamed(kind).definition.permission, action: 'read' } as const
  const list = { access, symbols: SYMBOLS, pagedByFilter: true } as const
  return [
    defineOperation(
      {
        route: `GET /${word}-role-attributes`,
        summary: `Lists the role attributes that ${kind.replaceAll('-', ' ')} have`,
        data: z.string(),
        ...list,
      },
      async ({ engine, find }) => {
        return { page: await engine.reader.roleAttributes(kind, find) }
      },
    ),
    defineOperation(
      {
        route: `GET /${word}-role-attribute-usage`,
        summary: `Lists the role attributes that ${kind.replaceAll('-', ' ')} have or policies select, with their holders and policies`,
        query: z.object({ withIds: z.string().optional() }),
        data: Use,
        ...list,
      },
      async ({ engine, find, query }) => {
        const withIds = query.withIds?.toLowerCase() === 'true'
        return { page: await engine.reader.roleAttributeUses(kind, find, withIds) }
      },
    ),
  ]
})
