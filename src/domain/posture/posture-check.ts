import type { OsType } from './os-type.ts'

/** An operating system and the version ranges it may have; no range admits every version. */
export interface OperatingSystem {
  readonly type: OsType
  readonly versions: readonly string[]
}

/** A process that a PROCESS check asks for. An empty list of hashes, or no signer, asks for none in particular. */
export interface CheckedProcess {
  readonly osType: OsType
  readonly path: string
  readonly hashes: readonly string[]
  readonly signerFingerprint?: string | undefined
}

/** A process that a PROCESS_MULTI check asks for. An empty list asks for no hash, or no signer, in particular. */
export interface CheckedMultiProcess {
  readonly osType: OsType
  readonly path: string
  readonly hashes: readonly string[]
  readonly signerFingerprints: readonly string[]
}

/** Which of its processes a PROCESS_MULTI check asks for: all, or any one (`OneOf` and `AnyOf` mean the same). */
export type ProcessSemantic = 'AllOf' | 'OneOf' | 'AnyOf'

interface CheckName {
  readonly id: string
  readonly name: string
}

/** The endpoint runs one of the operating systems, in one of its versions. */
export interface OsCheck extends CheckName {
  readonly typeId: 'OS'
  readonly operatingSystems: readonly OperatingSystem[]
}

/** The endpoint is a member of one of the Windows domains. */
export interface DomainCheck extends CheckName {
  readonly typeId: 'DOMAIN'
  readonly domains: readonly string[]
}

/** The endpoint has one of the MAC addresses. */
export interface MacCheck extends CheckName {
  readonly typeId: 'MAC'
  readonly macAddresses: readonly string[]
}

/** The endpoint runs the process. */
export interface ProcessCheck extends CheckName {
  readonly typeId: 'PROCESS'
  readonly process: CheckedProcess
}

/** The endpoint runs all, or one, of the processes. */
export interface ProcessMultiCheck extends CheckName {
  readonly typeId: 'PROCESS_MULTI'
  readonly semantic: ProcessSemantic
  readonly processes: readonly CheckedMultiProcess[]
}

/** The API session passed MFA recently enough. A `timeoutSeconds` of zero or less means no timeout. */
export interface MfaCheck extends CheckName {
  readonly typeId: 'MFA'
  readonly timeoutSeconds: number
  readonly promptOnWake: boolean
  readonly promptOnUnlock: boolean
  readonly ignoreLegacyEndpoints: boolean
}

/** A condition on the state of an endpoint, attached to service policies through role attributes. */
export type PostureCheck = OsCheck | DomainCheck | MacCheck | ProcessCheck | ProcessMultiCheck | MfaCheck
