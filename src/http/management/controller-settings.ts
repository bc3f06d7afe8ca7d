import { z } from 'zod'
import { Links, Tags } from '../../resources/fields.ts'
import { described } from '../../resources/words.ts'
import { Created } from '../operations/answers.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { HttpRefusal } from '../pipeline/answer/problem.ts'

const OidcSettings = described(z.object({ postLogoutUris: z.array(z.string()), redirectUris: z.array(z.string()) }), {
  postLogoutUris: 'Where clients may be sent after they logged out.',
  redirectUris: 'Where clients may be sent after they logged in.',
})
const WORDS = { oidc: 'Settings of logins by OpenID Connect.' } as const
const Oidc = described(z.object({ oidc: OidcSettings }), WORDS)
const Change = described(z.object({ ...Oidc.partial().shape, tags: Tags.optional() }), WORDS)
const base = {
  _links: Links,
  createdAt: z.iso.datetime(),
  id: z.string(),
  tags: Tags,
  updatedAt: z.iso.datetime(),
}
const Settings = described(z.object({ ...base, ...Oidc.shape }), WORDS)
const Effective = described(z.object({ ...base, effective: Oidc, instance: Oidc }), {
  effective: 'The settings that are in force.',
  instance: 'The settings of the one controller.',
})

/** Settings of the controllers of a cluster: part of the deployed documents, answered by no deployed controller, nor here. */
export const controllerSettingsOperations = [
  defineOperation(
    {
      route: 'GET /controller-settings',
      summary: 'Lists controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      data: Settings,
      symbols: {},
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'POST /controller-settings',
      summary: 'Creates controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      body: described(Change.extend({ controllerId: z.string() }), {
        ...WORDS,
        controllerId: 'The id of the controller.',
      }),
      data: Created,
      status: 201,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'GET /controller-settings/{id}',
      summary: 'Shows controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      data: Settings,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'GET /controller-settings/{id}/effective',
      summary: 'Shows the effective controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      data: Effective,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'PUT /controller-settings/{id}/effective',
      summary: 'Replaces the effective controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      body: Change,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'PATCH /controller-settings/{id}/effective',
      summary: 'Changes the effective controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      body: Change,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'DELETE /controller-settings/{id}/effective',
      summary: 'Deletes the effective controller settings (not implemented: 501)',
      access: 'admin',
      mayBeMissing: true,
      errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
    },
    notImplemented,
  ),
] as const

async function notImplemented(): Promise<never> {
  throw new HttpRefusal('UNHANDLED', 501, { code: 'UNHANDLED', message: 'controller settings are not implemented' })
}
