import type { PostureResponse } from 'portcullis'
import {
  applyResponses,
  emptyPostureData,
  type MfaCheck,
  type OperatingSystem,
  type PostureData,
  type ProcessCheck,
  type ProcessMultiCheck,
} from 'portcullis/policy'

/** The API session, and the instant, of every test that names no other. */
export const SESSION = 'session-1'
export const START = Date.UTC(2026, 0, 1)

/** The instant that comes the given seconds after the start. */
export function at(seconds: number): number {
  return START + seconds * 1000
}

/** The posture data of an identity that reported this, and nothing else. */
export function reported(...responses: readonly PostureResponse[]): PostureData {
  return applyResponses(emptyPostureData(), SESSION, responses, START)
}

export function osCheck(...operatingSystems: readonly OperatingSystem[]) {
  return { id: 'os-check', name: 'os', typeId: 'OS', operatingSystems } as const
}

export function domainCheck(...domains: readonly string[]) {
  return { id: 'domain-check', name: 'domain', typeId: 'DOMAIN', domains } as const
}

export function macCheck(...macAddresses: readonly string[]) {
  return { id: 'mac-check', name: 'mac', typeId: 'MAC', macAddresses } as const
}

export function processCheck(process: Partial<ProcessCheck['process']>): ProcessCheck {
  const asked = { osType: 'Linux', path: '/usr/bin/av', hashes: [], ...process } as const
  return { id: 'process-check', name: 'process', typeId: 'PROCESS', process: asked }
}

export function processMultiCheck(
  semantic: ProcessMultiCheck['semantic'],
  ...processes: readonly Partial<ProcessMultiCheck['processes'][number]>[]
): ProcessMultiCheck {
  const asked = { osType: 'Linux', path: '', hashes: [], signerFingerprints: [] } as const
  const filled = processes.map((process) => ({ ...asked, ...process }))
  return { id: 'multi-check', name: 'multi', typeId: 'PROCESS_MULTI', semantic, processes: filled }
}

export function mfaCheck(options: Partial<MfaCheck> = {}): MfaCheck {
  const off = { timeoutSeconds: -1, promptOnWake: false, promptOnUnlock: false, ignoreLegacyEndpoints: false }
  return { id: 'mfa-check', name: 'mfa', typeId: 'MFA', ...off, ...options }
}
