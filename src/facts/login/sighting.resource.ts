import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'sightings',
  singular: 'sighting',
  storeName: 'sightings',
  permission: 'identity',
  writable: {},
  system: { identityId: Id, seenAt: Instant },
  hidden: ['identityId', 'seenAt'],
  required: [],
  indexed: ['identityId', 'seenAt'],
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  operations: [],
} as const satisfies ResourceDefinition

/**
 * The last day on which an identity used the network, so that an identity that stays away is found by an index: API sessions are gone by
 * then. The record has the id of the identity. An identity without a record was never seen, or not since a version that notes it runs.
 */
export interface Sightings extends Resource<typeof DEFINITION> {}
export const sightings: Sightings = defineResource(DEFINITION, {})
