import { instant } from '../../../../base/time.ts'

/** The instant of a report (epoch ms), and the posture check that it answers. */
export interface Report {
  readonly postureCheckId: string
  readonly lastUpdatedAt: number
}

/** A report in answer to a posture check, made at `now` (epoch ms). */
export function reportOf(response: { readonly id: string }, now: number): Report {
  return { postureCheckId: response.id, lastUpdatedAt: now }
}

/** The shown form of a report's instant and posture check: null and empty without a report. */
export interface ReportView {
  readonly lastUpdatedAt: Date | null
  readonly postureCheckId: string
  readonly timedOut: boolean
}

/** The shown form of a report. Reports have no timeout of their own, so a report is never timed out. */
export function reportView(report: Report | null): ReportView {
  return {
    lastUpdatedAt: instant(report?.lastUpdatedAt ?? null),
    postureCheckId: report?.postureCheckId ?? '',
    timedOut: false,
  }
}

/** The facts that an SDK reports about itself at authentication. */
export interface SdkInfo {
  readonly appId?: string | undefined
  readonly appVersion?: string | undefined
  readonly branch?: string | undefined
  readonly revision?: string | undefined
  readonly type?: string | undefined
  readonly version?: string | undefined
}

/** The last MFA pass of an API session (epoch ms). */
export interface SessionMfa {
  readonly passedAt: number | null
}

/** The state of the endpoint of one API session. Instants are epoch ms. */
export interface SessionPosture {
  readonly apiSessionId: string
  readonly mfa: SessionMfa | null
  /** The last unlock and wake. */
  readonly unlockedAt: number | null
  readonly wokenAt: number | null
  /** The first unlock and wake since the last MFA pass: later unlocks and wakes must not restart the grace period. */
  readonly firstUnlockedAt: number | null
  readonly firstWokenAt: number | null
  readonly sdkInfo: SdkInfo | null
}

/** The state of the endpoints of an identity, each by its API session. */
export interface SessionReports {
  readonly sessions: readonly SessionPosture[]
}

const NOTHING_KNOWN: Omit<SessionPosture, 'apiSessionId'> = {
  mfa: null,
  unlockedAt: null,
  wokenAt: null,
  firstUnlockedAt: null,
  firstWokenAt: null,
  sdkInfo: null,
}

/** Finds the state of the endpoint of an API session; `undefined` for an unknown state. */
export function sessionPosture(data: SessionReports, apiSessionId: string): SessionPosture | undefined {
  return data.sessions.find((session) => session.apiSessionId === apiSessionId)
}

/**
 * Records that the API session passed MFA at `now` (epoch ms), which answers every earlier unlock and wake. The pass may be recorded after
 * a later unlock or wake, which then stays unanswered.
 *
 * @example
 * const data = recordMfaPass(emptyPostureData(), 'session-1', now)
 */
export function recordMfaPass<D extends SessionReports>(data: D, apiSessionId: string, now: number): D {
  const { unlockedAt, wokenAt, firstUnlockedAt, firstWokenAt } = sessionPosture(data, apiSessionId) ?? NOTHING_KNOWN
  return changeSession(data, apiSessionId, {
    mfa: { passedAt: now },
    firstUnlockedAt: firstAfter(now, firstUnlockedAt, unlockedAt),
    firstWokenAt: firstAfter(now, firstWokenAt, wokenAt),
  })
}

/**
 * The first event that the second factor at `passedAt` leaves unanswered, among the first and the last known event; null if it answers
 * both.
 */
function firstAfter(passedAt: number, first: number | null, last: number | null): number | null {
  if (first === null || first > passedAt) return first
  return last !== null && last > passedAt ? last : null
}

/**
 * Records that the identity has no MFA any more: no API session of it counts as having passed.
 *
 * @example
 * const data = clearMfa(known)
 */
export function clearMfa<D extends SessionReports>(data: D): D {
  const mfa = { passedAt: null }
  return { ...data, sessions: data.sessions.map((session) => (session.mfa === null ? session : { ...session, mfa })) }
}

/** Records the facts that an SDK reported about itself at authentication. */
export function recordSdkInfo<D extends SessionReports>(data: D, apiSessionId: string, sdkInfo: SdkInfo): D {
  return changeSession(data, apiSessionId, { sdkInfo })
}

/** Records that the endpoint of the API session was unlocked or woken at `now` (epoch ms), as far as the events occurred. */
export function recordEndpointState<D extends SessionReports>(
  data: D,
  apiSessionId: string,
  event: { readonly unlocked: boolean; readonly woken: boolean },
  now: number,
): D {
  const known = sessionPosture(data, apiSessionId)
  return changeSession(data, apiSessionId, {
    ...(event.unlocked ? { unlockedAt: now, firstUnlockedAt: known?.firstUnlockedAt ?? now } : {}),
    ...(event.woken ? { wokenAt: now, firstWokenAt: known?.firstWokenAt ?? now } : {}),
  })
}

/** The posture data with a change to one API session, which is added if it is unknown. */
function changeSession<D extends SessionReports>(
  data: D,
  apiSessionId: string,
  change: Partial<Omit<SessionPosture, 'apiSessionId'>>,
): D {
  const known = sessionPosture(data, apiSessionId)
  if (known !== undefined) {
    const sessions = data.sessions.map((session) => (session === known ? { ...session, ...change } : session))
    return { ...data, sessions }
  }
  return { ...data, sessions: [...data.sessions, { apiSessionId, ...NOTHING_KNOWN, ...change }] }
}

/**
 * The hex digits of a MAC address, hash or certificate fingerprint in lower case (`14-B2-2C` is `14b22c`), or `undefined` for a text
 * without hex digits: it matches nothing and must not be stored as an empty value.
 */
export function normaliseHex(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll(/[^0-9a-f]/g, '')
  return digits === '' ? undefined : digits
}

/** The normalised form of every text that holds hex digits. */
export function normaliseHexList(texts: readonly string[]): readonly string[] {
  return texts.map(normaliseHex).filter((digits) => digits !== undefined)
}

/** Reports whether a required value, normalised, is among the reported values, which are already normalised. */
export function includesAnyHex(reported: readonly string[], required: readonly string[]): boolean {
  return normaliseHexList(required).some((digits) => reported.includes(digits))
}

/** Operating systems that a posture check can name, in their stored spelling. */
export const OS_TYPES = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const

/** An operating system as a posture check stores it. */
export type OsType = (typeof OS_TYPES)[number]

const BY_FOLDED_NAME: ReadonlyMap<string, OsType> = new Map(OS_TYPES.map((type) => [foldName(type), type]))

/**
 * The stored spelling of an operating system in any case and with any spaces (`WINDOWS`, `Windows Server`); `undefined` for an unknown
 * operating system.
 */
export function canonicalOsType(name: string): OsType | undefined {
  return BY_FOLDED_NAME.get(foldName(name))
}

/**
 * The operating system behind the name that an endpoint reports; `undefined` for an unknown name.
 *
 * Apple endpoints report the kernel's name, `Darwin`, which counts as macOS.
 */
export function reportedOsType(name: string): OsType | undefined {
  return foldName(name) === 'darwin' ? 'macOS' : canonicalOsType(name)
}

function foldName(name: string): string {
  return name.replaceAll(/\s/g, '').toLowerCase()
}

/** The value with its operating system, under `member` or as `os`, in the stored spelling if it is known. */
export function withOsType(member: 'type' | 'osType', value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { os, ...rest }: { readonly os?: unknown; readonly type?: unknown; readonly osType?: unknown } = value
  const given = rest[member] ?? os
  if (typeof given !== 'string') return value
  return { ...rest, [member]: canonicalOsType(given) ?? given }
}
