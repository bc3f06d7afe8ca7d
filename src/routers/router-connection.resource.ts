import { z } from 'zod'
import { defineResource } from '../declaration/define-resource.ts'
import { Instant } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
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
 * The processes over this store to which routers are connected. What one keeps here of its routers counts for as long as it
 * says again and again that it is alive.
 */
export interface ControllerProcesses extends Resource<typeof DEFINITION> {}
export const controllerProcesses: ControllerProcesses = defineResource(DEFINITION, {
  address: 'Where routers reach the process, as it advertises it; null where its host runs the data plane.',
  aliveUntil: 'Until when what it says counts, RFC 3339.',
})
