import { z } from 'zod'
import { defineResource } from '../../../kernel/declaration/define-resource.ts'
import { Id, Instant } from '../../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../../kernel/declaration/resource.ts'
import type { PostureData } from './checks/index.ts'
import type { SessionPosture } from './checks/posture-data.ts'
import type { ProcessReports } from './checks/reported-processes.ts'
import type { PolicyFailure } from './rules/evaluate-policies.ts'

const INTERNAL = { permission: 'identity', writable: {}, required: [], operations: [] } as const

const POSTURE_DATA_DEFINITION = {
  ...INTERNAL,
  name: 'posture-data',
  singular: 'posture data',
  storeName: 'postureData',
  system: { identityId: Id, data: z.custom<PostureData>(), processCount: z.int(), processBytes: z.int() },
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  indexed: ['identityId'],
} as const satisfies ResourceDefinition

/**
 * The state of an identity's endpoints, without their processes and without the state of single API sessions. The id of a record is the
 * identity's.
 */
export interface PostureRecords extends Resource<typeof POSTURE_DATA_DEFINITION> {}
export const postureData: PostureRecords = defineResource(POSTURE_DATA_DEFINITION, {
  identityId: 'The id of the identity.',
  data: 'The reports of its endpoints.',
  processCount: 'How many reports of processes are kept, by check and by path together.',
  processBytes: 'The bytes of them, as JSON.',
})

const REPORTED_PROCESSES_DEFINITION = {
  ...INTERNAL,
  name: 'reported-processes',
  singular: 'reported processes',
  storeName: 'reportedProcesses',
  system: { identityId: Id, reports: z.custom<ProcessReports>() },
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  indexed: ['identityId'],
} as const satisfies ResourceDefinition

/** A part of the processes that endpoints of an identity reported, so that a new report does not rewrite all others. */
export interface ReportedProcessRecords extends Resource<typeof REPORTED_PROCESSES_DEFINITION> {}
export const reportedProcesses: ReportedProcessRecords = defineResource(REPORTED_PROCESSES_DEFINITION, {
  identityId: 'The id of the identity.',
  reports: 'The processes.',
})

const ENDPOINT_STATES_DEFINITION = {
  ...INTERNAL,
  name: 'endpoint-states',
  singular: 'endpoint state',
  storeName: 'endpointStates',
  system: { apiSessionId: Id, identityId: Id, state: z.custom<SessionPosture>() },
  references: { apiSessionId: { to: 'api-sessions', onDelete: 'cascade' } },
  indexed: ['apiSessionId', 'identityId'],
} as const satisfies ResourceDefinition

/** The state of the endpoint of one API session. The id of a record is the API session's. */
export interface EndpointStates extends Resource<typeof ENDPOINT_STATES_DEFINITION> {}
export const endpointStates: EndpointStates = defineResource(ENDPOINT_STATES_DEFINITION, {
  apiSessionId: 'The id of the API session.',
  identityId: 'The id of its identity.',
  state: 'Its second factor, its last unlock and wake, and what its SDK said of itself.',
})

/** A request that posture refused, with the checks that failed. */
export interface FailedRequest {
  readonly apiSessionId: string
  readonly serviceId: string
  readonly serviceName: string
  readonly sessionType: 'Dial' | 'Bind'
  readonly policyFailures: readonly PolicyFailure[]
}

const FAILED_SERVICE_REQUESTS_DEFINITION = {
  ...INTERNAL,
  name: 'failed-service-requests',
  singular: 'failed service request',
  storeName: 'failedServiceRequests',
  system: { identityId: Id, when: Instant, request: z.custom<FailedRequest>() },
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  indexed: ['identityId'],
} as const satisfies ResourceDefinition

/** A request for a service that posture refused; the last 50 of an identity are kept. */
export interface FailedServiceRequests extends Resource<typeof FAILED_SERVICE_REQUESTS_DEFINITION> {}
export const failedServiceRequests: FailedServiceRequests = defineResource(FAILED_SERVICE_REQUESTS_DEFINITION, {
  identityId: 'The id of the identity that asked.',
  when: 'When it asked, RFC 3339.',
  request: 'The access that it asked for, and the checks that failed.',
})
