import { instant } from '../instant.ts'
import type { PostureData, ReportedProcess, SdkInfo, SessionPosture } from './posture-data.ts'

/** When a value was reported and for which posture check: null and empty when it never was. */
interface ReportView {
  readonly lastUpdatedAt: Date | null
  readonly postureCheckId: string
  readonly timedOut: boolean
}

/** What is known of one API session. `passedOnWake` and `passedOnUnlock`: no wake or unlock awaits an MFA code. */
export interface SessionPostureView {
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

/** A reported process; the hash is empty when none was reported. */
export interface ProcessView extends ReportView {
  readonly binaryHash: string
  readonly isRunning: boolean
  readonly signerFingerprints: readonly string[]
}

/** The posture data of an identity as the management API shows it. */
export interface PostureDataView {
  readonly apiSessionPostureData: Readonly<Record<string, SessionPostureView>>
  readonly domain: ReportView & { readonly domain: string | null }
  readonly mac: ReportView & { readonly addresses: readonly string[] | null }
  readonly os: ReportView & {
    readonly build: string | null
    readonly type: string | null
    readonly version: string | null
  }
  readonly processes: readonly ProcessView[]
}

/** Shows the posture data of an identity (interface: Posture data of an identity). */
export function postureDataView(data: PostureData): PostureDataView {
  const { os, domain, mac } = data
  return {
    apiSessionPostureData: Object.fromEntries(
      data.sessions.map((session) => [session.apiSessionId, sessionView(session)]),
    ),
    domain: { ...reportView(domain), domain: domain?.domain ?? null },
    mac: { ...reportView(mac), addresses: mac?.addresses ?? null },
    os: { ...reportView(os), build: os?.build ?? null, type: os?.type ?? null, version: os?.version ?? null },
    processes: data.processes.map(processView),
  }
}

function sessionView(session: SessionPosture): SessionPostureView {
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

function processView(process: ReportedProcess): ProcessView {
  return {
    ...reportView(process),
    binaryHash: process.hash,
    isRunning: process.isRunning,
    signerFingerprints: process.signerFingerprints,
  }
}

/** Reported values have no timeout of their own, so none is ever timed out. */
function reportView(report: { readonly lastUpdatedAt: number; readonly postureCheckId: string } | null): ReportView {
  return {
    lastUpdatedAt: instant(report?.lastUpdatedAt ?? null),
    postureCheckId: report?.postureCheckId ?? '',
    timedOut: false,
  }
}
