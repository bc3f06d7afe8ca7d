import { HOUR_MS } from '../../../base/time.ts'
import { ROUTER_VERSION } from '../../routers/versions.rules.ts'

/** The place of a link between two routers: the binding of each, and the protocol. */
export interface LinkPlace {
  /** The binding at this router, by which it dials or listens; empty for the default binding. */
  readonly ownBinding: string
  readonly protocol: string
  readonly peerId: string
  readonly peerBinding: string
}

/** An existing link, or a link that is about to exist. */
export interface LinkState {
  readonly id: string
  /** True when this router dialed it. */
  readonly isDialed: boolean
}

/** Milliseconds for which a router that accepts links lets a peer dial first. */
const PEER_FIRST_MS = 1000

/** Milliseconds between dials of a healthy peer, and of a peer that lost its controller. */
const BACK_OFF = {
  healthy: { firstMs: 5000, mostMs: 300_000, factor: 1.5 },
  unhealthy: { firstMs: 60_000, mostMs: HOUR_MS, factor: 10 },
} as const

/** Duplicates in a row after which the new link is accepted: the held link may be dead without a sign. */
const MOST_REJECTED = 5

/** Milliseconds for which the peer may still send on a link that closes as a duplicate. */
export const DUPLICATE_CLOSES_MS = 60_000
/** Milliseconds without an answer to heartbeats after which a link is avoided, and after which it is closed. */
const LINK_SLOW_MS = 30_000
const LINK_DEAD_MS = 60_000
/** The latency that tells controllers of a link without answers, nanoseconds. */
export const DEAD_LATENCY_NS = 8_888_888_888_888

/** The key of a link's place. Two links with the same key are duplicates, whichever side dialed. */
export function linkKey({ ownBinding, protocol, peerId, peerBinding }: LinkPlace): string {
  return `${ownBinding || 'default'}->${protocol}:${peerId}->${peerBinding || 'default'}`
}

/** The outcome for two links between the same two routers. */
export type DuplicateOutcome = 'both-stay' | 'new-goes' | 'held-goes'

/**
 * The outcome for two links of one place: the router that dialed the link with the larger id closes it. Deployed routers may count other
 * links as duplicates, so each end only closes links that it dialed, and leaves the rest to its peer.
 */
export function duplicateOutcome(held: LinkState, added: LinkState, rejected: number): DuplicateOutcome {
  if (held.id === added.id) return 'held-goes'
  if (added.id > held.id) return added.isDialed && rejected < MOST_REJECTED ? 'new-goes' : 'both-stay'
  return held.isDialed ? 'held-goes' : 'both-stay'
}

/**
 * Milliseconds for which a router lets a peer dial first. Two routers that may dial each other need one link: of two routers with this rule
 * the router with the lower id dials at once. Routers with other versions always do.
 */
export function peerFirstMs(
  own: { readonly routerId: string; readonly isListening: boolean },
  peer: { readonly id: string; readonly version: string },
): number {
  const isFirst = peer.version === ROUTER_VERSION && own.routerId < peer.id
  return own.isListening && !isFirst ? PEER_FIRST_MS : 0
}

/**
 * Milliseconds until a router is dialed again after `failures` in a row. `fraction` (0 to 1) is random: routers that lost a peer at the
 * same time do not redial it at the same time.
 */
export function redialDelayMs(failures: number, isHealthy: boolean, fraction: number): number {
  if (failures === 0) return 0
  const { firstMs, mostMs, factor } = isHealthy ? BACK_OFF.healthy : BACK_OFF.unhealthy
  const grown = Math.min(mostMs, firstMs * factor ** Math.min(failures - 1, 64))
  return Math.min(mostMs, grown * (0.5 + fraction))
}

/** The state of a link with its last answer at `answeredAt` (ms of any clock). */
export function linkLiveness(answeredAt: number, now: number): 'alive' | 'slow' | 'dead' {
  const silentMs = now - answeredAt
  if (silentMs >= LINK_DEAD_MS) return 'dead'
  return silentMs >= LINK_SLOW_MS ? 'slow' : 'alive'
}

/** Reports whether a router that dials for the groups `own` dials a listener for the groups `theirs`. */
export function groupsMeet(own: readonly string[], theirs: readonly string[]): boolean {
  const listed = theirs.length === 0 ? ['default'] : theirs
  return own.some((group) => listed.includes(group))
}
