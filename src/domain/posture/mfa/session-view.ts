import { instant } from '../../time/instant.ts'
import type { SdkInfo, SessionPosture } from '../data/posture-data.ts'

/** What is known of one API session. `passedOnWake` and `passedOnUnlock`: no wake or unlock awaits an MFA code. */
export type SessionPostureView = {
  readonly endpointState: { readonly unlockedAt: Date | null; readonly wokenAt: Date | null }
  readonly mfa: {
    readonly apiSessionId: string
    readonly passedAt: Date | null
    readonly passedMfa: boolean
    readonly passedOnUnlock: boolean
    readonly passedOnWake: boolean
  }
  readonly sdkInfo?: SdkInfo
}

/** Shows what is known of one API session. */
export function sessionPostureView(session: SessionPosture): SessionPostureView {
  const { apiSessionId, mfa, unlockedAt, wokenAt, firstUnlockedAt, firstWokenAt, sdkInfo } = session
  const passedAt = mfa?.passedAt ?? null
  return {
    endpointState: { unlockedAt: instant(unlockedAt), wokenAt: instant(wokenAt) },
    mfa: {
      apiSessionId,
      passedAt: instant(passedAt),
      passedMfa: passedAt !== null,
      passedOnUnlock: passedAt !== null && firstUnlockedAt === null,
      passedOnWake: passedAt !== null && firstWokenAt === null,
    },
    ...(sdkInfo === null ? {} : { sdkInfo }),
  }
}
