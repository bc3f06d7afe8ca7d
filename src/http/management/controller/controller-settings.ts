import { z } from 'zod'
import { instant } from '../../../domain/time/instant.ts'
import { CONTROLLER_ID, type SettingsChange, type SettingsView } from '../../../engine/configs/controller-settings.ts'
import { Links, Tags } from '../../../resources/declaration/fields.ts'
import { described } from '../../../resources/declaration/words.ts'
import { Created, DONE } from '../../operations/answers.ts'
import { defineOperation } from '../../operations/define-operation.ts'

const Uris = z.array(z.string().max(2048)).max(100)
const URI_WORDS = {
  postLogoutUris: 'Where clients may be sent after they logged out: exactly these URIs.',
  redirectUris:
    'Where clients may be sent after they logged in: exactly these URIs; `*` may stand for the port of localhost, 127.0.0.1 or [::1].',
} as const
const OpenId = described(z.object({ postLogoutUris: Uris, redirectUris: Uris }), URI_WORDS)
const SomeOpenId = described(z.object({ postLogoutUris: Uris.nullish(), redirectUris: Uris.nullish() }), URI_WORDS)
const WORDS = { oidc: 'Settings of logins by OpenID Connect.' } as const
const InForce = described(z.object({ oidc: OpenId }), WORDS)
const SetHere = described(z.object({ oidc: SomeOpenId }), WORDS)
const Change = described(z.object({ oidc: SomeOpenId.optional(), tags: Tags.optional() }), WORDS)
const BASE = {
  _links: Links,
  createdAt: z.iso.datetime(),
  id: z.string(),
  tags: Tags,
  updatedAt: z.iso.datetime(),
}
const Settings = described(z.object({ ...BASE, ...InForce.shape }), WORDS)
const Effective = described(z.object({ ...BASE, effective: InForce, instance: SetHere }), {
  effective: 'The settings that are in force.',
  instance: 'Those of them that were set here, in place of what the controller was configured with.',
})

const WHAT_IT_DOES =
  'Where clients of the OpenID provider may be sent. What is set holds at once; the configuration holds for the rest.'

/** The settings of the one controller: those of its OpenID provider. */
export const controllerSettingsOperations = [
  defineOperation(
    {
      route: 'GET /controller-settings',
      summary: 'Lists the settings of the controllers: of this one',
      access: 'admin',
      data: z.array(Settings),
      hasListMeta: true,
    },
    async ({ engine }) => {
      const settings = await engine.controllerSettings.get(CONTROLLER_ID)
      return { page: { items: [settingsOf(settings)], totalCount: 1 } }
    },
  ),
  defineOperation(
    {
      route: 'POST /controller-settings',
      summary: 'Sets the settings of a controller that has none of its own',
      description: WHAT_IT_DOES,
      access: 'admin',
      body: described(Change.extend({ controllerId: z.string().max(256) }), {
        ...WORDS,
        controllerId: 'The id of the controller, as `/controllers` lists it.',
      }),
      data: Created,
      status: 201,
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call, body }) => {
      await engine.controllerSettings.create(call, body.controllerId, changeOf(body))
      const { controllerId: id } = body
      return { data: { _links: linksOf(), id } }
    },
  ),
  defineOperation(
    {
      route: 'GET /controller-settings/{id}',
      summary: 'Shows the settings of a controller',
      access: 'admin',
      data: Settings,
    },
    async ({ engine, params }) => ({ data: settingsOf(await engine.controllerSettings.get(params.id)) }),
  ),
  defineOperation(
    {
      route: 'GET /controller-settings/{id}/effective',
      summary: 'Shows the settings that are in force, and which of them were set here',
      access: 'admin',
      data: Effective,
    },
    async ({ engine, params }) => {
      const settings = await engine.controllerSettings.get(params.id)
      const { effective, instance } = settings
      return { data: { ...baseOf(settings), effective: { oidc: effective }, instance: { oidc: instance } } }
    },
  ),
  defineOperation(
    {
      route: 'PUT /controller-settings/{id}/effective',
      summary: 'Replaces what is set of the settings of a controller',
      description: WHAT_IT_DOES,
      access: 'admin',
      body: Change,
    },
    async ({ engine, call, params, body }) => {
      await engine.controllerSettings.replace(call, params.id, changeOf(body))
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'PATCH /controller-settings/{id}/effective',
      summary: 'Changes what is set of the settings of a controller',
      description: WHAT_IT_DOES,
      access: 'admin',
      body: Change,
    },
    async ({ engine, call, params, body }) => {
      await engine.controllerSettings.patch(call, params.id, changeOf(body))
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'DELETE /controller-settings/{id}/effective',
      summary: 'Goes back to what the controller was configured with',
      access: 'admin',
      errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
    },
    async ({ engine, call, params }) => {
      await engine.controllerSettings.remove(call, params.id)
      return DONE
    },
  ),
] as const

function changeOf({ oidc, tags }: z.output<typeof Change>): SettingsChange {
  const { redirectUris, postLogoutUris } = oidc ?? {}
  return { uris: { ...(redirectUris && { redirectUris }), ...(postLogoutUris && { postLogoutUris }) }, tags }
}

function settingsOf(settings: SettingsView) {
  return { ...baseOf(settings), oidc: settings.effective }
}

function baseOf({ createdAt, updatedAt, tags }: SettingsView) {
  return { _links: linksOf(), createdAt: instant(createdAt), id: CONTROLLER_ID, tags, updatedAt: instant(updatedAt) }
}

function linksOf() {
  const self = `./controller-settings/${CONTROLLER_ID}`
  return { self: { href: self }, effective: { href: `${self}/effective` } }
}
