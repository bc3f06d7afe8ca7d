import { z } from 'zod'
import type { RouterConnection } from '../../ports/router-presence.ts'
import { defineResource } from '../declaration/define-resource.ts'
import { Id } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
  name: 'router-connections',
  singular: 'router connection',
  storeName: 'routerConnections',
  permission: 'router',
  writable: {},
  system: { routerId: Id, processId: Id, connection: z.custom<RouterConnection>() },
  required: [],
  indexed: ['processId'],
  operations: [],
} as const satisfies ResourceDefinition

/** A router's control channel to one of the processes over this store. */
export interface RouterConnections extends Resource<typeof DEFINITION> {}
export const routerConnections: RouterConnections = defineResource(DEFINITION, {
  routerId: 'The id of the router.',
  processId: 'The process that holds the channel.',
  connection: 'What is known of the router.',
})
