import { z } from 'zod'
import { DONE } from '../answers.ts'
import { defineOperation } from '../operation.ts'

const access = { entity: 'identity', action: 'update' } as const

/** Shutting identities out, letting them in again, and freeing them of a second factor that they lost. */
export const identityStateOperations = [
  defineOperation(
    {
      route: 'POST /identities/{id}/disable',
      summary: 'Disables an identity for so many minutes, 0 until it is enabled, and ends its API sessions',
      access,
      body: z.object({ durationMinutes: z.int().max(2_147_483_647) }),
    },
    async ({ engine, call, params, body }) => {
      await engine.identityState.disable(call, params.id, body.durationMinutes)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'POST /identities/{id}/enable',
      summary: 'Enables an identity and unlocks its password',
      access,
    },
    async ({ engine, call, params }) => {
      await engine.identityState.enable(call, params.id)
      return DONE
    },
  ),
  defineOperation(
    { route: 'DELETE /identities/{id}/mfa', summary: 'Ends the MFA enrollment of an identity', access },
    async ({ engine, call, params }) => {
      await engine.mfa.removeFrom(call, params.id)
      return DONE
    },
  ),
] as const
