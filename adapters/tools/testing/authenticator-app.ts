import { type ApiClient, ApiError, type ClientApi } from '../../../src/client/index.ts'
import type { FakeClock } from './fake-clock.ts'

/** An authenticator app that shows the one-time codes of an identity. */
export interface AuthenticatorApp {
  /** The secret that it was given, base32. */
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** The code that it shows now. */
  code(): Promise<string>
  /**
   * Passes the second factor in the API session of the endpoint. A code is good once: if the shown code was used already, time passes until
   * the next code, up to 30 s.
   */
  pass(): Promise<void>
}

const STEP_MS = 30_000

/** The state of an app: as much as another controller over the same network needs to go on with it. */
export interface KeptApp {
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** Until when (epoch ms) the code that is shown was used already. */
  usedUntil: number
}

/** The parts of the test that an app needs. */
interface AppPorts {
  readonly clock: FakeClock
  elapse(milliseconds: number): Promise<void>
}

/**
 * Enrolls an identity in MFA in its API session, or passes MFA there with its existing app. The session has passed the second factor then.
 * `apps` are the apps of the network, by the id of their identity.
 */
export async function enrollInMfa(
  api: Pick<ApiClient<ClientApi>, 'call'>,
  identityId: string,
  apps: Map<string, KeptApp>,
  ports: AppPorts,
): Promise<AuthenticatorApp> {
  try {
    await api.call('POST /current-identity/mfa')
  } catch (error) {
    const kept = apps.get(identityId)
    // Without an app the test itself enrolled the identity, and only the test knows the secret.
    if (kept === undefined || !(error instanceof ApiError && error.code === 'MFA_EXISTS')) throw error
    const app = await appOf(api, kept, ports)
    await app.pass()
    return app
  }
  const { provisioningUrl, recoveryCodes } = (await api.call('GET /current-identity/mfa')).data
  const secret = new URL(provisioningUrl ?? '').searchParams.get('secret') ?? ''
  const kept = { secret, recoveryCodes: recoveryCodes ?? [], usedUntil: 0 }
  const app = await appOf(api, kept, ports)
  await app.verify()
  apps.set(identityId, kept)
  return app
}

/** An app that shows the codes of a secret, for the session of a client. */
async function appOf(api: Pick<ApiClient<ClientApi>, 'call'>, kept: KeptApp, { clock, elapse }: AppPorts) {
  const { generate } = await import('otplib')
  const { secret, recoveryCodes } = kept
  const code = () => generate({ secret, epoch: Math.floor(clock.now() / 1000) })
  const unusedCode = async () => {
    if (clock.now() < kept.usedUntil) await elapse(kept.usedUntil - clock.now())
    kept.usedUntil = (Math.floor(clock.now() / STEP_MS) + 1) * STEP_MS
    return code()
  }
  return {
    ...{ secret, recoveryCodes, code },
    pass: async () => {
      await api.call('POST /authenticate/mfa', { body: { code: await unusedCode() } })
    },
    verify: async () => {
      await api.call('POST /current-identity/mfa/verify', { body: { code: await unusedCode() } })
    },
  }
}
