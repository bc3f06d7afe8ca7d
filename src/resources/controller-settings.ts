import { z } from 'zod'
import { defineResource } from './declaration/define-resource.ts'
import type { Resource, ResourceDefinition } from './declaration/resource.ts'

const DEFINITION = {
  name: 'controller-settings',
  singular: 'controller settings',
  storeName: 'controllerSettings',
  permission: 'controllers',
  writable: {},
  system: {
    redirectUris: z.custom<readonly string[]>().nullable(),
    postLogoutUris: z.custom<readonly string[]>().nullable(),
  },
  required: [],
  operations: [],
} as const satisfies ResourceDefinition

/** Settings of one controller, by its id, in place of those that it was configured with. */
export interface ControllerSettings extends Resource<typeof DEFINITION> {}
export const controllerSettings: ControllerSettings = defineResource(DEFINITION, {
  redirectUris: 'Where clients may be sent after they logged in; null as configured.',
  postLogoutUris: 'Where clients may be sent after they logged out; null as configured.',
})
