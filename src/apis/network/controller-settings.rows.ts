import { z } from 'zod'
import { instant } from '../../base/time.ts'
import {
  CLIENT_URI_WORDS,
  ClientUris,
  SETTINGS_WORDS,
  SetClientUris,
  SettingsChange,
  SettingsCreation,
} from '../../facts/network/controller-settings.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Created, done } from '../../http/operations/operation.ts'
import { Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { CONTROLLER_ID, type SettingsView } from '../../network/controller-settings.ts'

const OpenId = described(z.object({ postLogoutUris: ClientUris, redirectUris: ClientUris }), CLIENT_URI_WORDS)
const InForce = described(z.object({ oidc: OpenId }), SETTINGS_WORDS)
const SetHere = described(z.object({ oidc: SetClientUris }), SETTINGS_WORDS)
const BASE = {
  _links: Links,
  createdAt: z.iso.datetime(),
  id: z.string(),
  tags: Tags,
  updatedAt: z.iso.datetime(),
}
const Settings = described(z.object({ ...BASE, ...InForce.shape }), SETTINGS_WORDS)
const Effective = described(z.object({ ...BASE, effective: InForce, instance: SetHere }), {
  effective: 'The settings that are in force.',
  instance: 'Those of them that were set here, in place of what the controller was configured with.',
})

const WHAT_IT_DOES =
  'Where clients of the OpenID provider may be sent. A stored value holds at once; the configuration holds for the rest.'

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
      body: SettingsCreation,
      data: Created,
      status: 201,
      errors: ['NOT_FOUND'],
    },
    async ({ engine, call, request }) => {
      await engine.controllerSettings.create(call, request)
      const { controllerId: id } = request
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
      body: SettingsChange,
    },
    async ({ engine, call, params, request }) => done(engine.controllerSettings.replace(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'PATCH /controller-settings/{id}/effective',
      summary: 'Changes what is set of the settings of a controller',
      description: WHAT_IT_DOES,
      access: 'admin',
      body: SettingsChange,
    },
    async ({ engine, call, params, request }) => done(engine.controllerSettings.patch(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'DELETE /controller-settings/{id}/effective',
      summary: 'Goes back to what the controller was configured with',
      access: 'admin',
      errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
    },
    async ({ engine, call, params }) => done(engine.controllerSettings.remove(call, params.id)),
  ),
] as const

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
