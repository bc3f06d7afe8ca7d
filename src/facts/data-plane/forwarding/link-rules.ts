/** Where two routers hold a link: the binding of each and the protocol between them. */
export interface LinkPlace {
  /** The binding at this router, by which it dials or listens; empty for the one without a name. */
  readonly ownBinding: string
  readonly protocol: string
  readonly peerId: string
  readonly peerBinding: string
}

/** A link that is there, or is about to be. */
export interface LinkState {
  readonly id: string
  /** Whether this router dialed it. */
  readonly isDialed: boolean
}

/** Milliseconds: dials of a peer that is healthy, and of one that lost its controller. */
const BACK_OFF = {
  healthy: { firstMs: 5000, mostMs: 300_000, factor: 1.5 },
  unhealthy: { firstMs: 60_000, mostMs: 3_600_000, factor: 10 },
} as const

/** Duplicates in a row after which the new link is taken: the one that is held may be dead without a word. */
const MOST_REJECTED = 5

/** Milliseconds for which the peer may still send on a link that goes as a duplicate. */
export const DUPLICATE_CLOSES_MS = 60_000
/** Milliseconds without an answer to heartbeats after which a link is avoided, and after which it is over. */
const LINK_SLOW_MS = 30_000
const LINK_DEAD_MS = 60_000
/** The latency by which controllers know a link that does not answer, nanoseconds. */
export const DEAD_LATENCY_NS = 8_888_888_888_888

/** Two links with one key are duplicates, whichever side dialed: the key is that of the place. */
export function linkKey({ ownBinding, protocol, peerId, peerBinding }: LinkPlace): string {
  return `${ownBinding || 'default'}->${protocol}:${peerId}->${peerBinding || 'default'}`
}

/** The outcome for two links between the same two routers. */
export type DuplicateOutcome = 'both-stay' | 'new-goes' | 'held-goes'

/**
 * Which of two links of one place goes: the one of the larger id, by whom it was dialed. Routers of the field count other links as
 * duplicates than this one may, so that an end closes what it dialed itself and leaves the rest to its peer.
 */
export function duplicateOutcome(held: LinkState, added: LinkState, rejected: number): DuplicateOutcome {
  if (held.id === added.id) return 'held-goes'
  if (added.id > held.id) return added.isDialed && rejected < MOST_REJECTED ? 'new-goes' : 'both-stay'
  return held.isDialed ? 'held-goes' : 'both-stay'
}

/**
 * Milliseconds until a router is dialed again after `failures` in a row. `fraction` (0 to 1) is random: routers that lost one
 * peer together do not come back together.
 */
export function redialDelayMs(failures: number, isHealthy: boolean, fraction: number): number {
  if (failures === 0) return 0
  const { firstMs, mostMs, factor } = isHealthy ? BACK_OFF.healthy : BACK_OFF.unhealthy
  const grown = Math.min(mostMs, firstMs * factor ** Math.min(failures - 1, 64))
  return Math.min(mostMs, grown * (0.5 + fraction))
}

/** How a link stands that was last answered at `answeredAt` (ms of any clock). */
export function linkLiveness(answeredAt: number, now: number): 'alive' | 'slow' | 'dead' {
  const silentMs = now - answeredAt
  if (silentMs >= LINK_DEAD_MS) return 'dead'
  return silentMs >= LINK_SLOW_MS ? 'slow' : 'alive'
}

/** Whether a router that dials for `own` groups dials a listener that serves `theirs`. */
export function groupsMeet(own: readonly string[], theirs: readonly string[]): boolean {
  const listed = theirs.length === 0 ? ['default'] : theirs
  return own.some((group) => listed.includes(group))
}
