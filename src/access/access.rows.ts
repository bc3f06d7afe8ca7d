import { z } from 'zod'
import { instant } from '../../domain/time/instant.ts'
import { EntityRef } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { TraceRequest } from '../../resources/identities/identity-requests.ts'
import { defineOperation } from '../operations/define-operation.ts'

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
    isBindAllowed: 'Whether a service policy lets the identity host the service, posture aside.',
    isDialAllowed: 'Whether a service policy lets the identity connect to the service, posture aside.',
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
