/** When a value was reported (epoch ms), and in answer to which posture check. */
interface Report {
  readonly postureCheckId: string
  readonly lastUpdatedAt: number
}

/** The operating system an endpoint reported, as it spelled it. */
export interface ReportedOs extends Report {
  readonly type: string
  readonly version: string
  readonly build: string
}

/** The Windows domain an endpoint reported, as it spelled it. */
export interface ReportedDomain extends Report {
  readonly domain: string
}

/** The MAC addresses an endpoint reported, normalised. */
export interface ReportedMac extends Report {
  readonly addresses: readonly string[]
}

/** A process an endpoint reported: path as it spelled it, hash (`''` when none) and signers normalised. */
export interface ReportedProcess extends Report {
  readonly path: string
  readonly isRunning: boolean
  readonly hash: string
  readonly signerFingerprints: readonly string[]
}

/** What an SDK says about itself when it authenticates. */
export interface SdkInfo {
  readonly appId?: string | undefined
  readonly appVersion?: string | undefined
  readonly branch?: string | undefined
  readonly revision?: string | undefined
  readonly type?: string | undefined
  readonly version?: string | undefined
}

/** When an API session last passed MFA (epoch ms). */
export interface SessionMfa {
  readonly passedAt: number | null
}

/** What is known about the endpoint of one API session. Instants are epoch ms. */
export interface SessionPosture {
  readonly apiSessionId: string
  readonly mfa: SessionMfa | null
  /** The last unlock and wake. */
  readonly unlockedAt: number | null
  readonly wokenAt: number | null
  /** The first unlock and wake since the last MFA pass: later ones must not begin the grace period anew. */
  readonly firstUnlockedAt: number | null
  readonly firstWokenAt: number | null
  readonly sdkInfo: SdkInfo | null
}

/**
 * What the endpoints of one identity reported, as plain JSON.
 *
 * Ids and paths come from clients, so entries are lists: no text can collide with a property of an object.
 */
export interface PostureData {
  readonly os: ReportedOs | null
  readonly domain: ReportedDomain | null
  readonly mac: ReportedMac | null
  /** The newest report of each posture check id, oldest first. */
  readonly processes: readonly ReportedProcess[]
  /** The newest report of each path, oldest first. */
  readonly processesByPath: readonly ReportedProcess[]
  readonly sessions: readonly SessionPosture[]
}

/** The posture data of an identity whose endpoints reported nothing yet. */
export function emptyPostureData(): PostureData {
  return { os: null, domain: null, mac: null, processes: [], processesByPath: [], sessions: [] }
}
