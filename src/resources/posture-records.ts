import { z } from 'zod'
import type { PostureData } from '../domain/posture/index.ts'
import { defineResource } from './define-resource.ts'
import { Id, Instant, JsonObject } from './fields.ts'

const internal = { permission: 'identity', writable: {}, required: [], operations: [] } as const

/** What the controller knows of the state of an identity's endpoints; its id is the identity's. */
export const postureData = defineResource(
  {
    ...internal,
    name: 'posture-data',
    singular: 'posture data',
    storeName: 'postureData',
    system: { identityId: Id, data: z.custom<PostureData>() },
    references: { identityId: { to: 'identities', onDelete: 'cascade' } },
    indexed: ['identityId'],
  },
  { identityId: 'The id of the identity.', data: 'What its endpoints reported.' },
)

/** A request for a service that posture refused; the last fifty of an identity are kept (interface: Limits). */
export const failedServiceRequests = defineResource(
  {
    ...internal,
    name: 'failed-service-requests',
    singular: 'failed service request',
    storeName: 'failedServiceRequests',
    system: { identityId: Id, when: Instant, request: JsonObject },
    references: { identityId: { to: 'identities', onDelete: 'cascade' } },
    indexed: ['identityId'],
  },
  {
    identityId: 'The id of the identity that asked.',
    when: 'When it asked, RFC 3339.',
    request: 'What it asked for, and the checks that failed.',
  },
)
