import type { IdentityConnectionStatus, IdentityConnections } from '../../ports/router-presence.ts'

/** Milliseconds for which an identity counts as unknown after the router that knew it went away. */
export const UNKNOWN_MS = 5 * 60_000

/** How many identities are kept for one router, whatever it reports. */
const MOST_OF_A_ROUTER = 100_000

/** Which identities are connected to which routers, as the routers report it. */
export class ConnectedIdentities {
  readonly #routersOf = new Map<string, Set<string>>()
  readonly #identitiesOf = new Map<string, Set<string>>()
  /** Until when (epoch ms) an identity is unknown. */
  readonly #unknownUntil = new Map<string, number>()

  /** The status of an identity at `now` (epoch ms). */
  statusOf(identityId: string, now: number): IdentityConnectionStatus {
    if (this.#routersOf.has(identityId)) return 'online'
    return now < (this.#unknownUntil.get(identityId) ?? 0) ? 'unknown' : 'offline'
  }

  /** Takes a router's report; answers the identities that it names or no longer names. */
  report(routerId: string, { full, identities }: IdentityConnections): readonly string[] {
    const known = [...(this.#identitiesOf.get(routerId) ?? [])]
    const named = new Set(identities.map(({ identityId }) => identityId))
    const missing = full ? known.filter((identityId) => !named.has(identityId)) : []
    for (const identityId of missing) this.#part(routerId, identityId)
    for (const { identityId, connected } of identities) {
      // Somebody knows again.
      this.#unknownUntil.delete(identityId)
      if (connected) this.#join(routerId, identityId)
      else this.#part(routerId, identityId)
    }
    return [...missing, ...named]
  }

  /** A router is gone; answers the identities that it alone knew, which are unknown until `until` (epoch ms). */
  lose(routerId: string, until: number): readonly string[] {
    const known = [...(this.#identitiesOf.get(routerId) ?? [])]
    for (const identityId of known) this.#part(routerId, identityId)
    const unknown = known.filter((identityId) => !this.#routersOf.has(identityId))
    for (const identityId of unknown) this.#unknownUntil.set(identityId, until)
    return unknown
  }

  /** Forgets what is unknown for too long at `now` (epoch ms); answers whether the identity is offline now by that. */
  expire(identityId: string, now: number): boolean {
    const until = this.#unknownUntil.get(identityId)
    if (until === undefined || now < until) return false
    return this.#unknownUntil.delete(identityId)
  }

  #join(routerId: string, identityId: string): void {
    if ((this.#identitiesOf.get(routerId)?.size ?? 0) >= MOST_OF_A_ROUTER) return
    entry(this.#routersOf, identityId).add(routerId)
    entry(this.#identitiesOf, routerId).add(identityId)
  }

  #part(routerId: string, identityId: string): void {
    remove(this.#routersOf, identityId, routerId)
    remove(this.#identitiesOf, routerId, identityId)
  }
}

function entry(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key) ?? new Set()
  sets.set(key, known)
  return known
}

function remove(sets: Map<string, Set<string>>, key: string, member: string): void {
  const known = sets.get(key)
  known?.delete(member)
  if (known?.size === 0) sets.delete(key)
}
