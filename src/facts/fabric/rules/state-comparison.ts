import { grouped } from '../../../base/collections.ts'
import { ROUTER_CAPABILITY } from '../../routers/capabilities.rules.ts'
import type { Link } from './topology.ts'
import type { CircuitState, ExpectedCounts, HostCount, HostedTerminatorState, LinkState } from './validation-results.ts'

/** The destination that a router reports for the end of a circuit at an SDK. */
const AT_SDK = 'xg-edge-fwd'

/**
 * Compares the circuits of one router by their ids: circuits that the controller created over it (`laid`), circuits in its tables with
 * their destinations, and circuits at its ends for SDKs (`atEdge`, `atSdk`).
 */
export function compareCircuits(
  laid: readonly string[],
  forwarded: ReadonlyMap<string, ReadonlyMap<string, string>>,
  atEdge: readonly string[],
  atSdk: readonly string[],
): ReadonlyMap<string, CircuitState> {
  const [known, edge, sdk] = [new Set(laid), new Set(atEdge), new Set(atSdk)]
  const ids = new Set([...known, ...forwarded.keys(), ...edge, ...sdk])
  return new Map([...ids].map((circuitId) => [circuitId, stateOf(circuitId)]))

  function stateOf(circuitId: string): CircuitState {
    const destinations = forwarded.get(circuitId) ?? new Map<string, string>()
    const isAtSdk = [...destinations.values()].includes(AT_SDK)
    const missingInForwarder = !forwarded.has(circuitId)
    const isStray = !known.has(circuitId) && missingInForwarder
    return {
      circuitId,
      missingInCtrl: !known.has(circuitId),
      missingInForwarder,
      missingInEdge: !edge.has(circuitId) && (isAtSdk || isStray),
      missingInSdk: !sdk.has(circuitId) && isAtSdk,
      destinations,
    }
  }
}

/** A link in a router's report. */
interface ToldLink {
  readonly id: string
  readonly dest: string
  readonly dialed: boolean
}

/** Compares the links of one router with the controller's links. */
export function compareLinks(
  routerId: string,
  known: readonly Link[],
  told: readonly ToldLink[],
  isConnected: (routerId: string) => boolean,
): readonly LinkState[] {
  const own = new Map(
    known.filter(({ source, target }) => source === routerId || target === routerId).map((link) => [link.id, link]),
  )
  const here = told.map(({ id: linkId, dest: destRouterId, dialed }): LinkState => {
    const destConnected = isConnected(destRouterId)
    const isKnown = own.delete(linkId)
    const common = { linkId, destRouterId, dialed, destConnected, messages: [] }
    return {
      ...common,
      ctrlState: isKnown ? 'established' : 'unknown',
      routerState: 'established',
      isValid: isKnown === destConnected,
    }
  })
  const elsewhere = [...own.values()].map(({ id: linkId, source, target }): LinkState => {
    const dialed = source === routerId
    const destRouterId = dialed ? target : source
    const states = { ctrlState: 'established', routerState: 'unknown', isValid: false } as const
    return { linkId, destRouterId, dialed, destConnected: isConnected(destRouterId), messages: [], ...states }
  })
  return [...here, ...elsewhere]
}

type ToldTerminator = Pick<HostedTerminatorState, 'operationActive' | 'createTime' | 'lastAttempt'> & {
  readonly id: string
  readonly state: string
}

/** Compares the terminators that a router hosts with its stored terminators, by their ids. */
export function compareHosted(
  stored: readonly string[],
  told: readonly ToldTerminator[],
): readonly HostedTerminatorState[] {
  const missing = new Set(stored)
  const here = told.map(({ id: terminatorId, state: routerState, ...facts }): HostedTerminatorState => {
    const isStored = missing.delete(terminatorId)
    const ctrlState = isStored ? 'valid' : 'unknown'
    return { terminatorId, ctrlState, routerState, isValid: isStored && routerState === 'established', ...facts }
  })
  const times = { operationActive: false, createTime: '', lastAttempt: '' }
  const elsewhere = [...missing].map((terminatorId): HostedTerminatorState => {
    return { terminatorId, ctrlState: 'valid', routerState: 'unknown', isValid: false, ...times }
  })
  return [...here, ...elsewhere]
}

/** An identity whose endpoints a router knows. */
interface ToldIdentity {
  readonly id: string
  readonly isConnected: boolean
  /** True while the controller does not know its state yet. */
  readonly isBehind: boolean
}

/**
 * Lists the hosts with an unexpected number of terminators. Per service, only hosts with a terminator of the service are judged; in total,
 * all `hosts`.
 */
export function compareCounts(
  stored: readonly { readonly serviceId: string; readonly hostId: string }[],
  { perHost, perHostAndService }: ExpectedCounts,
  hosts: readonly string[],
): readonly HostCount[] {
  const others: HostCount[] = []
  const judge = (expected: number, count: number, identityId: string, serviceId: string) => {
    if (expected === 0 || count === expected) return
    others.push({ identityId, serviceId, message: `expected ${expected} terminators, but had ${count}` })
  }
  const byHost = grouped(stored, ({ hostId }) => hostId)
  for (const [hostId, own] of byHost) {
    for (const [serviceId, { length }] of grouped(own, (terminator) => terminator.serviceId)) {
      judge(perHostAndService, length, hostId, serviceId)
    }
  }
  for (const id of hosts) judge(perHost, byHost.get(id)?.length ?? 0, id, '')
  return others
}

/** Compares the identities that are connected to a router with the controller's view; describes each difference. */
export function compareIdentities(known: readonly string[], told: readonly ToldIdentity[]): readonly string[] {
  const missing = new Set(known)
  const here = told.flatMap(({ id, isConnected, isBehind }) => {
    const isKnown = missing.delete(id)
    const says = isConnected ? 'connected' : 'is not connected'
    return [
      ...(isConnected === isKnown ? [] : [`router reports identity ${id} ${says}, but controller disagrees`]),
      ...(isBehind ? [`identity ${id} has unreported events`] : []),
    ]
  })
  const elsewhere = [...missing].map((id) => `ctrl reports identity ${id} is connected, but router disagrees`)
  return [...here, ...elsewhere]
}

/** A difference between the data models of a router and of the controller. */
export interface ModelDifference {
  /** In the words of the router, as `identity` or `service-policy`; `subscriber` for state that it derived for a connected client. */
  readonly entityType: string
  readonly entityId: string
  /** The router has an entity too many, differs in it, or lacks it. */
  readonly kind: 'added' | 'modified' | 'removed'
  readonly detail: string
}

/** Parts of the model that some routers cannot compare. */
export type ModelPart = 'revocations' | 'config-overrides'

const { multiChannel, postureChecks, judgedByController } = ROUTER_CAPABILITY
const REVOCATIONS = 'revocations'
/** The suffix by which routers name an identity's own configs. */
const OVERRIDES = '.ServiceConfigs'

/**
 * Lists the parts that a router with these capabilities must not be given to compare: a router before 2.1 crashes when it compares
 * revocations, or an identity with configs of its own.
 */
export function partsNotCompared(capabilities: readonly number[]): readonly ModelPart[] {
  const comparesAll = [postureChecks, judgedByController].some((one) => capabilities.includes(one))
  return comparesAll ? [] : ['config-overrides', 'revocations']
}

/** Reports whether a router survives a comparison while a client with configs of its own is connected: routers before 2.0 crash. */
export function survivesOverrides(capabilities: readonly number[]): boolean {
  return [multiChannel, judgedByController].some((one) => capabilities.includes(one))
}

/**
 * Finds the differences that a router reported, without the differences that follow from missing parts of the comparison. Such a router
 * reports every revocation as one too many. Of revocations, only unknown ones and missing ones remain.
 */
export function differencesOf(
  reported: readonly ModelDifference[],
  parts: readonly ModelPart[],
  revocations: ReadonlySet<string>,
): readonly ModelDifference[] {
  const withoutOverrides = parts.includes('config-overrides')
    ? reported.filter(({ kind, detail }) => kind !== 'modified' || !detail.includes(OVERRIDES))
    : reported
  if (!parts.includes('revocations')) return withoutOverrides
  const isRevocation = ({ entityType }: ModelDifference) => entityType === REVOCATIONS
  const known = new Set(reported.filter(isRevocation).map(({ entityId }) => entityId))
  const lacking = [...revocations].filter((id) => !known.has(id))
  return [
    ...withoutOverrides.filter((difference) => !isRevocation(difference) || !revocations.has(difference.entityId)),
    ...lacking.map((entityId) => {
      return { entityType: REVOCATIONS, entityId, kind: 'removed' as const, detail: 'entity missing' }
    }),
  ]
}
