import { expect } from 'vitest'
import { expectDone, expectError } from '../../contract/http/errors.ts'
import { read } from '../../contract/http/foreign-client.ts'
import { completeMfa, pendingMfa } from '../../support/mfa-enrollment.ts'
import { apisOf } from '../../support/people.ts'
import { STEP_MS } from '../../support/totp.ts'
import { aliceOf, mfaOf, type Row } from './stage.ts'

/** MFA enrollments, and the sessions that need one. */
export const MFA: readonly Row[] = [
  [
    'MFA enrollment',
    'none',
    'initiate',
    'pending',
    async (stage) => {
      const { api } = await pendingMfa(stage.mounted, await aliceOf(stage))
      expect(await mfaOf(api)).toBe('pending')
      expect((await api.get('/current-identity/mfa/qr-code')).status).toBe(200)
    },
  ],
  [
    'MFA enrollment',
    'enrolled',
    'initiate',
    'unchanged, 409',
    async (stage) => {
      const { api } = await completeMfa(stage.mounted, await aliceOf(stage))
      expectError(await api.post('/current-identity/mfa'), 'MFA_EXISTS', undefined, 409)
      expect(await mfaOf(api)).toBe('complete')
    },
  ],
  [
    'MFA enrollment',
    'pending',
    'verify with a valid code',
    'complete',
    async (stage) => {
      const { api, code, recoveryCodes } = await completeMfa(stage.mounted, await aliceOf(stage))
      expect(await mfaOf(api)).toBe('complete')
      expectError(await api.get('/current-identity/mfa/qr-code'), 'NOT_FOUND')
      const shown = async () =>
        (await api.send('GET', '/current-identity/mfa/recovery-codes', { headers: { 'mfa-validation-code': code() } }))
          .body.data.recoveryCodes
      expect(await shown()).toEqual(recoveryCodes)
      expectDone(await api.post('/current-identity/mfa/recovery-codes', { code: recoveryCodes[0] }))
      stage.mounted.clock.advance(STEP_MS)
      expect((await shown()).filter((one: string) => recoveryCodes.includes(one))).toEqual([])
    },
  ],
  [
    'MFA enrollment',
    'complete',
    'disable with a valid code',
    'none',
    async (stage) => {
      const { api, code } = await completeMfa(stage.mounted, await aliceOf(stage))
      expectError(await api.delete('/current-identity/mfa'), 'MFA_INVALID_TOKEN')
      expectDone(await api.send('DELETE', '/current-identity/mfa', { headers: { 'mfa-validation-code': code() } }))
      expect(await mfaOf(api)).toBe('none')
    },
  ],
  [
    'MFA enrollment',
    'pending',
    'disable with an empty code',
    'none',
    async (stage) => {
      const { api } = await pendingMfa(stage.mounted, await aliceOf(stage))
      expectDone(await api.send('DELETE', '/current-identity/mfa', { headers: { 'mfa-validation-code': '' } }))
      expect(await mfaOf(api)).toBe('none')
    },
  ],
  [
    'MFA enrollment',
    'any',
    'admin removal',
    'none',
    async (stage) => {
      const alice = await aliceOf(stage)
      for (const begin of [pendingMfa, completeMfa]) {
        const { api } = await begin(stage.mounted, alice)
        expectDone(await stage.admin.delete(`/identities/${alice.id}/mfa`))
        expect(await mfaOf(api)).toBe('none')
      }
    },
  ],
  [
    'API session',
    'MFA required and not complete',
    'complete MFA authentication',
    'MFA complete',
    async (stage) => {
      const alice = await aliceOf(stage)
      const { code } = await completeMfa(stage.mounted, alice)
      const { api } = await apisOf(stage.mounted, alice)
      expect(await read(api, '/current-api-session')).toMatchObject({ isMfaRequired: true, isMfaComplete: false })
      expectError(await api.get('/current-identity'), 'UNAUTHORIZED')
      expectDone(await api.post('/authenticate/mfa', { code: code() }))
      expect(await read(api, '/current-api-session')).toMatchObject({ isMfaRequired: true, isMfaComplete: true })
      expect((await api.get('/current-identity')).status).toBe(200)
    },
  ],
]
