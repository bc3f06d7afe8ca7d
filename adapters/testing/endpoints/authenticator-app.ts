import type { ApiClient, ClientApi } from '../../../src/client/index.ts'
import type { FakeClock } from '../clock/fake-clock.ts'

/** An authenticator app that shows the one-time codes of an identity. */
export interface AuthenticatorApp {
  /** The secret that it was given, base32. */
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** The code that it shows now. */
  code(): Promise<string>
  /**
   * Passes the second factor in the API session of the endpoint. A code is good once: where the one that is shown was used
   * already, time passes until the next, up to 30 s.
   */
  pass(): Promise<void>
}

const STEP_MS = 30_000

/** What an app needs of the test around it. */
interface Surroundings {
  readonly clock: FakeClock
  elapse(milliseconds: number): Promise<void>
}

/** Enrolls an identity in MFA, in its API session, which has passed the second factor then. */
export async function enrollInMfa(
  api: Pick<ApiClient<ClientApi>, 'call'>,
  { clock, elapse }: Surroundings,
): Promise<AuthenticatorApp> {
  const { generate } = await import('otplib')
  await api.call('POST /current-identity/mfa')
  const { provisioningUrl, recoveryCodes } = (await api.call('GET /current-identity/mfa')).data
  const secret = new URL(provisioningUrl ?? '').searchParams.get('secret') ?? ''
  let usedUntil = 0
  const code = () => generate({ secret, epoch: Math.floor(clock.now() / 1000) })
  const unusedCode = async () => {
    if (clock.now() < usedUntil) await elapse(usedUntil - clock.now())
    usedUntil = (Math.floor(clock.now() / STEP_MS) + 1) * STEP_MS
    return code()
  }
  await api.call('POST /current-identity/mfa/verify', { body: { code: await unusedCode() } })
  return {
    secret,
    recoveryCodes: recoveryCodes ?? [],
    code,
    pass: async () => {
      await api.call('POST /authenticate/mfa', { body: { code: await unusedCode() } })
    },
  }
}
