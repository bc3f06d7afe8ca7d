import { z } from 'zod'
import { Links, Tags } from '../../resources/fields.ts'
import { Created } from '../answers.ts'
import { type Answer, defineOperation, type Operation } from '../operation.ts'
import { HttpRefusal } from '../problem.ts'

const Oidc = z.object({ oidc: z.object({ postLogoutUris: z.array(z.string()), redirectUris: z.array(z.string()) }) })
const Change = z.object({ ...Oidc.partial().shape, tags: Tags.optional() })
const base = {
  _links: Links,
  createdAt: z.iso.datetime(),
  id: z.string(),
  tags: Tags,
  updatedAt: z.iso.datetime(),
}
const Settings = z.object({ ...base, ...Oidc.shape })
const Effective = z.object({ ...base, effective: Oidc, instance: Oidc })

/** Settings of the controllers of a cluster: part of the deployed documents, answered by no deployed controller, nor here. */
export const controllerSettingsOperations: readonly Operation[] = [
  defineOperation(
    {
      route: 'GET /controller-settings',
      summary: 'Lists controller settings (not implemented: 501)',
      access: 'admin',
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
      body: Change.extend({ controllerId: z.string() }),
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
      data: Settings,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'GET /controller-settings/{id}/effective',
      summary: 'Shows the effective controller settings (not implemented: 501)',
      access: 'admin',
      data: Effective,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'PUT /controller-settings/{id}/effective',
      summary: 'Replaces the effective controller settings (not implemented: 501)',
      access: 'admin',
      body: Change,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'PATCH /controller-settings/{id}/effective',
      summary: 'Changes the effective controller settings (not implemented: 501)',
      access: 'admin',
      body: Change,
    },
    notImplemented,
  ),
  defineOperation(
    {
      route: 'DELETE /controller-settings/{id}/effective',
      summary: 'Deletes the effective controller settings (not implemented: 501)',
      access: 'admin',
      errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
    },
    notImplemented,
  ),
]

async function notImplemented(): Promise<Answer> {
  throw new HttpRefusal('UNHANDLED', 501, { code: 'UNHANDLED', message: 'controller settings are not implemented' })
}
