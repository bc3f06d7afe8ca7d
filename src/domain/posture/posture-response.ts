import { normaliseHex, normaliseHexList } from './hex.ts'
import type { PostureData, ReportedProcess } from './posture-data.ts'
import { recordEndpointState } from './session-posture.ts'

/** A report of an endpoint's operating system. */
export interface OsResponse {
  readonly id: string
  readonly typeId: 'OS'
  readonly type: string
  readonly version: string
  readonly build?: string | undefined
}

/** A report of an endpoint's Windows domain. */
export interface DomainResponse {
  readonly id: string
  readonly typeId: 'DOMAIN'
  readonly domain: string
}

/** A report of an endpoint's MAC addresses. */
export interface MacResponse {
  readonly id: string
  readonly typeId: 'MAC'
  readonly macAddresses: readonly string[]
}

/** A report of one process, in answer to a PROCESS or a PROCESS_MULTI check. */
export interface ProcessResponse {
  readonly id: string
  readonly typeId: 'PROCESS'
  readonly path?: string | undefined
  readonly isRunning?: boolean | undefined
  readonly hash?: string | undefined
  readonly signerFingerprints?: readonly string[] | undefined
}

/** A report that the endpoint was unlocked or woken. */
export interface EndpointStateResponse {
  readonly id: string
  readonly typeId: 'ENDPOINT_STATE'
  readonly unlocked?: boolean | undefined
  readonly woken?: boolean | undefined
}

/** What a client submits about its endpoint. MFA and PROCESS_MULTI have no response of their own. */
export type PostureResponse = OsResponse | DomainResponse | MacResponse | ProcessResponse | EndpointStateResponse

/** Processes kept per identity; beyond it the oldest reports go, so that a client cannot fill the memory. */
export const MAX_REPORTED_PROCESSES = 1000

/**
 * The posture data after an API session submitted responses, applied in order at `now` (epoch ms).
 *
 * Posture check ids are not looked up: a response to an unknown check is kept and harms nothing.
 */
export function applyResponses(
  data: PostureData,
  apiSessionId: string,
  responses: readonly PostureResponse[],
  now: number,
): PostureData {
  const processes = responses.filter((response) => response.typeId === 'PROCESS').map((r) => reportedProcess(r, now))
  const reported = responses.reduce((next, response) => applyResponse(next, apiSessionId, response, now), data)
  if (processes.length === 0) return reported
  const withPath = processes.filter((process) => process.path !== '')
  return {
    ...reported,
    processes: newest([...data.processes, ...processes], (process) => process.postureCheckId),
    processesByPath: newest([...data.processesByPath, ...withPath], (process) => process.path),
  }
}

function applyResponse(data: PostureData, apiSessionId: string, response: PostureResponse, now: number): PostureData {
  const report = { postureCheckId: response.id, lastUpdatedAt: now }
  switch (response.typeId) {
    case 'OS': {
      const { type, version, build = '' } = response
      return { ...data, os: { ...report, type, version, build } }
    }
    case 'DOMAIN':
      return { ...data, domain: { ...report, domain: response.domain } }
    case 'MAC':
      return { ...data, mac: { ...report, addresses: normaliseHexList(response.macAddresses) } }
    case 'ENDPOINT_STATE': {
      const { unlocked = false, woken = false } = response
      return recordEndpointState(data, apiSessionId, { unlocked, woken }, now)
    }
    case 'PROCESS':
      return data
  }
}

function reportedProcess(response: ProcessResponse, now: number): ReportedProcess {
  return {
    postureCheckId: response.id,
    lastUpdatedAt: now,
    path: response.path ?? '',
    isRunning: response.isRunning ?? false,
    hash: normaliseHex(response.hash ?? '') ?? '',
    signerFingerprints: normaliseHexList(response.signerFingerprints ?? []),
  }
}

/** The last process of each key, in the order of their reports. */
function newest(processes: readonly ReportedProcess[], keyOf: (process: ReportedProcess) => string) {
  const byKey = new Map<string, ReportedProcess>()
  for (const process of processes) {
    byKey.delete(keyOf(process))
    byKey.set(keyOf(process), process)
  }
  return [...byKey.values()].slice(-MAX_REPORTED_PROCESSES)
}
