import { z } from 'zod'
import { defineResource } from '../declaration/define-resource.ts'
import { Id, Instant } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
  name: 'service-views',
  singular: 'service view',
  storeName: 'serviceViews',
  permission: 'ops',
  writable: {},
  system: {
    apiSessionId: Id,
    digest: z.string(),
    lastChangeAt: Instant,
    /** The store's revision as of which the view was taken: an older look never replaces a newer one. */
    revision: z.int(),
  },
  required: [],
  indexed: ['apiSessionId'],
  references: { apiSessionId: { to: 'api-sessions', onDelete: 'cascade' } },
  operations: [],
} as const satisfies ResourceDefinition

/** What an API session would see in its service list, as a digest, and since when; its id is the API session's. */
export interface ServiceViews extends Resource<typeof DEFINITION> {}
export const serviceViews: ServiceViews = defineResource(DEFINITION, {
  apiSessionId: 'The id of the API session that looked.',
  digest: 'SHA-256 of what it saw, hex.',
  lastChangeAt: 'Since when it sees that, RFC 3339.',
  revision: 'The revision of the store at which it looked.',
})
