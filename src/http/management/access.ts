import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import { policyAdvice } from '../../engine/policy-advice.ts'
import { EntityRef } from '../../resources/fields.ts'
import { defineOperation } from '../operation.ts'

const PolicyAdvice = z.object({
  commonRouters: z.array(EntityRef.extend({ isOnline: z.boolean() })),
  identity: EntityRef,
  identityId: z.string(),
  identityRouterCount: z.int(),
  isBindAllowed: z.boolean(),
  isDialAllowed: z.boolean(),
  service: EntityRef,
  serviceId: z.string(),
  serviceRouterCount: z.int(),
})

const TraceRequest = z.object({
  channels: z.array(z.string()).max(100).optional(),
  duration: z.string().max(100).optional(),
  enabled: z.boolean().optional(),
  traceId: z.string().max(256).optional(),
})

const NEVER = '0001-01-01T00:00:00.000Z'

/** Finding out why an identity cannot reach a service: by its policies, and by tracing its data flow. */
export const identityAccessOperations = [
  defineOperation(
    {
      route: 'GET /identities/{id}/policy-advice/{serviceId}',
      summary: 'Tells what policies and edge routers let an identity use a service',
      access: { entity: 'service', action: 'read' },
      data: PolicyAdvice,
    },
    async ({ engine, params }) => ({ data: await policyAdvice(engine.context, params.id, params.serviceId) }),
  ),
  defineOperation(
    {
      route: 'PUT /identities/{id}/trace',
      summary: 'Traces the data flow of an identity for a while, or no longer',
      access: { entity: 'identity', action: 'update' },
      body: TraceRequest,
      data: z.object({ enabled: z.boolean(), traceId: z.string(), until: z.iso.datetime() }),
    },
    async ({ engine, params, body }) => {
      const trace = await engine.traces.set(params.id, body)
      if (trace === undefined) return { data: { enabled: false, traceId: '', until: NEVER } }
      return { data: { enabled: true, traceId: trace.traceId, until: instant(trace.until) } }
    },
  ),
] as const
