import { expect } from 'vitest'
import { expectDone } from '../contract/http/errors.ts'
import { read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { apisOf, type Person } from './people.ts'
import { STEP_MS, totp } from './totp.ts'

/** Begins an MFA enrollment in a new API session. `code` is what the authenticator app shows now. */
export async function pendingMfa(mounted: MountedController, who: Person) {
  const { api, management } = await apisOf(mounted, who)
  expect((await api.post('/current-identity/mfa')).status).toBe(201)
  const { provisioningUrl, recoveryCodes } = await read(api, '/current-identity/mfa')
  const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  return { api, management, secret, provisioningUrl, recoveryCodes, code: () => totp(secret, mounted.clock.now()) }
}

/** A complete MFA enrollment whose app shows a fresh code. */
export async function completeMfa(mounted: MountedController, who: Person) {
  const mfa = await pendingMfa(mounted, who)
  expectDone(await mfa.api.post('/current-identity/mfa/verify', { code: mfa.code() }))
  mounted.clock.advance(STEP_MS)
  return mfa
}
