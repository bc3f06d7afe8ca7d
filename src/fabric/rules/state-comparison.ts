import type { Link } from './topology.ts'
import type { CircuitState, HostedTerminatorState, LinkState } from './validation-results.ts'

/** The destination by which a router says that an SDK keeps the end of a circuit. */
const AT_SDK = 'xg-edge-fwd'

/**
 * Compares the circuits of one router by their ids: those that the controller laid over it (`laid`), those in its tables
 * with their destinations, and those at its ends for SDKs (`atEdge`, `atSdk`).
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

/** A link as a router tells it. */
interface ToldLink {
  readonly id: string
  readonly dest: string
  readonly dialed: boolean
}

/** Compares the links of one router with those that the controller knows. */
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

/** Compares the terminators that a router hosts with those that are stored for it, by their ids. */
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
  /** The controller is still to be told something of it. */
  readonly isBehind: boolean
}

/** Compares the identities that are connected to a router with those that the controller takes for connected; tells each difference. */
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
