import { z } from 'zod'
import type { PolicyFailure, PostureData } from '../domain/posture/index.ts'
import { defineResource } from './define-resource.ts'
import { Id, Instant } from './fields.ts'
import type { Resource, ResourceDefinition } from './resource.ts'

const internal = { permission: 'identity', writable: {}, required: [], operations: [] } as const

const postureDataDefinition = {
  ...internal,
  name: 'posture-data',
  singular: 'posture data',
  storeName: 'postureData',
  system: { identityId: Id, data: z.custom<PostureData>() },
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  indexed: ['identityId'],
} as const satisfies ResourceDefinition

/** What the controller knows of the state of an identity's endpoints; its id is the identity's. */
export interface PostureRecords extends Resource<typeof postureDataDefinition> {}
export const postureData: PostureRecords = defineResource(postureDataDefinition, {
  identityId: 'The id of the identity.',
  data: 'What its endpoints reported.',
})

/** What was asked for, and what posture had against it. */
export interface FailedRequest {
  readonly apiSessionId: string
  readonly serviceId: string
  readonly serviceName: string
  readonly sessionType: 'Dial' | 'Bind'
  readonly policyFailures: readonly PolicyFailure[]
}

const failedServiceRequestsDefinition = {
  ...internal,
  name: 'failed-service-requests',
  singular: 'failed service request',
  storeName: 'failedServiceRequests',
  system: { identityId: Id, when: Instant, request: z.custom<FailedRequest>() },
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  indexed: ['identityId'],
} as const satisfies ResourceDefinition

/** A request for a service that posture refused; the last fifty of an identity are kept (interface: Limits). */
export interface FailedServiceRequests extends Resource<typeof failedServiceRequestsDefinition> {}
export const failedServiceRequests: FailedServiceRequests = defineResource(failedServiceRequestsDefinition, {
  identityId: 'The id of the identity that asked.',
  when: 'When it asked, RFC 3339.',
  request: 'What it asked for, and the checks that failed.',
})
