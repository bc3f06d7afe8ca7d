import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Tags } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

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

/** Settings of one controller, by its id, which replace its configuration. */
export interface ControllerSettings extends Resource<typeof DEFINITION> {}
export const controllerSettings: ControllerSettings = defineResource(DEFINITION, {
  redirectUris: 'Where clients may be sent after they logged in; null as configured.',
  postLogoutUris: 'Where clients may be sent after they logged out; null as configured.',
})

/** Redirect or logout URIs of the OpenID provider's clients. */
export const ClientUris = z.array(z.string().max(2048)).max(100)

/** Descriptions of the URIs. */
export const CLIENT_URI_WORDS = {
  postLogoutUris: 'Where clients may be sent after they logged out: exactly these URIs.',
  redirectUris:
    'Where clients may be sent after they logged in: exactly these URIs; `*` may stand for the port of localhost, 127.0.0.1 or [::1].',
} as const

export const SETTINGS_WORDS = { oidc: 'Settings of logins by OpenID Connect.' } as const

/** The URIs that replace the configuration. */
export const SetClientUris = described(
  z.object({ postLogoutUris: ClientUris.nullish(), redirectUris: ClientUris.nullish() }),
  CLIENT_URI_WORDS,
)

/** PUT and PATCH /controller-settings/{id}/effective. */
export const SettingsChange = described(
  z.object({ oidc: SetClientUris.optional(), tags: Tags.optional() }),
  SETTINGS_WORDS,
)

/** POST /controller-settings. */
export const SettingsCreation = described(SettingsChange.extend({ controllerId: z.string().max(256) }), {
  ...SETTINGS_WORDS,
  controllerId: 'The id of the controller, as `/controllers` lists it.',
})
