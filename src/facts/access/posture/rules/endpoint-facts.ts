import { checkOptions, type OptionRules } from '../../../../base/arguments.ts'
import type { PostureResponse } from '../checks/index.ts'

/** The facts that an endpoint reports about itself, in plain words; an absent member is not reported. */
export interface EndpointFacts {
  /** Its Windows domain. */
  readonly domain?: string
  /** Its operating system, with the version as `11.2.0`; missing parts count as 0. */
  readonly os?: { readonly type: string; readonly version: string; readonly build?: string }
  /** The addresses of its network interfaces. */
  readonly macAddresses?: readonly string[]
  /** Processes that are not in the list stay as they were reported: a process that has ended is reported with `isRunning: false`. */
  readonly processes?: readonly EndpointProcess[]
  /** True when its user has just unlocked it. */
  readonly isUnlocked?: boolean
  /** True when it has just woken from sleep. */
  readonly isWoken?: boolean
}

/** A process of an endpoint. */
export interface EndpointProcess {
  /** The path of its binary, compared exactly. */
  readonly path: string
  /** Default: true. */
  readonly isRunning?: boolean
  /** The SHA-256 or SHA-512 hash of its binary, hex. */
  readonly hash?: string
  /** SHA-1 fingerprints, hex, of the certificates that signed its binary. */
  readonly signerFingerprints?: readonly string[]
}

const FACTS: OptionRules<EndpointFacts> = {
  domain: 'string',
  os: { members: ['type', 'version', 'build'] },
  macAddresses: 'array',
  processes: 'array',
  isUnlocked: 'boolean',
  isWoken: 'boolean',
}
const PROCESS: OptionRules<EndpointProcess> = {
  path: { shape: 'string', isNeeded: true },
  isRunning: 'boolean',
  hash: 'string',
  signerFingerprints: 'array',
}

/**
 * The posture responses by which an endpoint reports its facts, in the order of the members. Their ids name the reported fact; the
 * controller stores them without looking them up.
 *
 * @example
 * postureResponses({ domain: 'corp.example' }) // [{ id: 'domain', typeId: 'DOMAIN', domain: 'corp.example' }]
 */
export function postureResponses(facts: EndpointFacts): readonly PostureResponse[] {
  checkOptions('posture', facts, FACTS)
  const { domain, os, macAddresses, processes = [], isUnlocked, isWoken } = facts
  for (const process of processes) checkOptions('a process', process, PROCESS)
  const responses: PostureResponse[] = []
  if (domain !== undefined) responses.push({ id: 'domain', typeId: 'DOMAIN', domain })
  if (os !== undefined) responses.push({ id: 'os', typeId: 'OS', ...os })
  if (macAddresses !== undefined) responses.push({ id: 'mac', typeId: 'MAC', macAddresses })
  for (const [position, { isRunning = true, ...process }] of processes.entries()) {
    responses.push({ id: `process-${position}`, typeId: 'PROCESS', isRunning, ...process })
  }
  if (isUnlocked !== undefined || isWoken !== undefined) {
    responses.push({
      id: 'endpoint-state',
      typeId: 'ENDPOINT_STATE',
      unlocked: isUnlocked ?? false,
      woken: isWoken ?? false,
    })
  }
  return responses
}
