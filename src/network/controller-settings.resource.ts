import { z } from 'zod'
import { Tags } from './declaration/fields.ts'
import { described } from './declaration/words.ts'

/** URIs to which clients of the OpenID provider may be sent. */
export const ClientUris = z.array(z.string().max(2048)).max(100)

/** What the URIs are for. */
export const CLIENT_URI_WORDS = {
  postLogoutUris: 'Where clients may be sent after they logged out: exactly these URIs.',
  redirectUris:
    'Where clients may be sent after they logged in: exactly these URIs; `*` may stand for the port of localhost, 127.0.0.1 or [::1].',
} as const

export const SETTINGS_WORDS = { oidc: 'Settings of logins by OpenID Connect.' } as const

/** Those of the settings that are set here, in place of the configuration. */
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
