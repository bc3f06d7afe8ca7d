import { DisableRequest } from '../../resources/identities/identity-requests.ts'
import { DONE } from '../operations/answers.ts'
import { defineOperation } from '../operations/define-operation.ts'

const ACCESS = { entity: 'identity', action: 'update' } as const

/** Shutting identities out, letting them in again, and freeing them of a second factor that they lost. */
export const identityStateOperations = [
  defineOperation(
    {
      route: 'POST /identities/{id}/disable',
      summary: 'Disables an identity for so many minutes, 0 until it is enabled, and ends its API sessions',
      description: 'It may neither authenticate nor go on with an API session until then.',
      access: ACCESS,
      body: DisableRequest,
    },
    async ({ engine, call, params, request }) => {
      await engine.identityState.disable(call, params.id, request)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'POST /identities/{id}/enable',
      summary: 'Enables an identity and unlocks its password',
      description: 'Clears what disabled it, by an admin or by too many wrong passwords.',
      access: ACCESS,
    },
    async ({ engine, call, params }) => {
      await engine.identityState.enable(call, params.id)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'DELETE /identities/{id}/mfa',
      summary: 'Ends the MFA enrollment of an identity',
      description: 'For who lost the second factor and the recovery codes. Done as well when there is none.',
      access: ACCESS,
    },
    async ({ engine, call, params }) => {
      await engine.mfa.removeFrom(call, params.id)
      return DONE
    },
  ),
] as const
