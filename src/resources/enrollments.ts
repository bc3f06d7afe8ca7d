import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Instant } from './fields.ts'

/** An invitation to enroll, good once and until it expires (interface: Enrollment). */
export const enrollments = defineResource({
  name: 'enrollments',
  singular: 'enrollment',
  storeName: 'enrollments',
  permission: 'enrollment',
  writable: {},
  system: {
    method: z.enum(['ott', 'ottca', 'updb', 'erott', 'trott']),
    token: z.string(),
    jwt: z.string(),
    expiresAt: Instant,
    identityId: Id.nullable(),
    edgeRouterId: Id.nullable(),
    transitRouterId: Id.nullable(),
    caId: Id.nullable(),
    username: z.string().nullable(),
  },
  required: [],
  unique: ['token'],
  indexed: ['identityId', 'edgeRouterId', 'transitRouterId', 'caId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    edgeRouterId: { to: 'edge-routers', onDelete: 'cascade', show: 'edgeRouter' },
    transitRouterId: { to: 'transit-routers', onDelete: 'cascade', show: 'transitRouter' },
    caId: { to: 'cas', onDelete: 'cascade', show: 'ca' },
  },
  symbols: { identity: 'identityId', edgeRouter: 'edgeRouterId', transitRouter: 'transitRouterId' },
  operations: [],
})
