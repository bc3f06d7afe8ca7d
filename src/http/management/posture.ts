import { z } from 'zod'
import { JsonObject } from '../../resources/fields.ts'
import { defineOperation } from '../operation.ts'

const PolicyFailure = z.object({ checks: z.array(JsonObject), policyId: z.string(), policyName: z.string() })

const FailedServiceRequest = z.object({
  apiSessionId: z.string(),
  policyFailures: z.array(PolicyFailure),
  serviceId: z.string(),
  serviceName: z.string(),
  sessionType: z.enum(['Dial', 'Bind']),
  when: z.iso.datetime(),
})

const report = { lastUpdatedAt: z.iso.datetime().nullable(), postureCheckId: z.string(), timedOut: z.boolean() }

const PostureData = z.object({
  apiSessionPostureData: z.record(z.string(), JsonObject),
  domain: z.object({ ...report, domain: z.string().nullable() }),
  mac: z.object({ ...report, addresses: z.array(z.string()).nullable() }),
  os: z.object({
    ...report,
    build: z.string().nullable(),
    type: z.string().nullable(),
    version: z.string().nullable(),
  }),
  processes: z.array(
    z.object({
      ...report,
      binaryHash: z.string().optional(),
      isRunning: z.boolean().optional(),
      signerFingerprints: z.array(z.string()),
    }),
  ),
})

/** What the endpoints of an identity reported, and which of its requests posture refused. */
export const identityPostureOperations = [
  defineOperation(
    {
      route: 'GET /identities/{id}/posture-data',
      summary: 'Shows the posture data of an identity',
      access: { entity: 'identity', action: 'read' },
      data: PostureData,
    },
    async ({ engine, params }) => ({ data: await engine.posture.dataOf(params.id) }),
  ),
  defineOperation(
    {
      route: 'GET /identities/{id}/failed-service-requests',
      summary: 'Lists the last fifty service requests of an identity that posture refused, oldest first',
      access: { entity: 'identity', action: 'read' },
      data: z.array(FailedServiceRequest),
    },
    async ({ engine, params }) => {
      const failed = await engine.posture.failedRequests(params.id)
      return { data: failed.map(({ request, when }) => ({ ...request, when: new Date(when) })) }
    },
  ),
] as const
