import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import type { RouterConnection } from '../../ports/router-presence.ts'

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
  connection: 'The known facts of the router.',
})

const PROCESS_DEFINITION = {
  name: 'controller-processes',
  singular: 'controller process',
  storeName: 'controllerProcesses',
  permission: 'controllers',
  writable: {},
  system: { address: z.string().nullable(), aliveUntil: Instant },
  required: [],
  operations: [],
} as const satisfies ResourceDefinition

/**
 * The processes over this store with connected routers. The stored connections of a process count as long as it keeps reporting that it is
 * alive.
 */
export interface ControllerProcesses extends Resource<typeof PROCESS_DEFINITION> {}
export const controllerProcesses: ControllerProcesses = defineResource(PROCESS_DEFINITION, {
  address: 'Where routers reach the process, as it advertises it; null where its host runs the data plane.',
  aliveUntil: 'Until when what it says counts, RFC 3339.',
})
