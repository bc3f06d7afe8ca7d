/** A router that an identity may reach a service by, as a controller tells of it. */
export interface RouterOffer {
  readonly name: string
  /** `tls://HOST:PORT`; undefined for one that no endpoint can connect to. */
  readonly address: string | undefined
  readonly isOnline: boolean
  readonly cost: number
}

/**
 * The routers to try, the best first: those that are connected already, then those that are online, the cheaper ones before
 * dearer ones. One that is said to be offline comes last: the controller may be late.
 */
export function routersToTry(
  offers: readonly RouterOffer[],
  isConnected: (address: string) => boolean,
): readonly (RouterOffer & { readonly address: string })[] {
  const rank = ({ address, isOnline }: RouterOffer) => (isConnected(address ?? '') ? 0 : isOnline ? 1 : 2)
  return offers
    .filter((offer): offer is RouterOffer & { readonly address: string } => offer.address !== undefined)
    .toSorted((one, other) => rank(one) - rank(other) || one.cost - other.cost || (one.name < other.name ? -1 : 1))
}

/** Milliseconds before the first further try. */
const FIRST_MS = 500
/** Milliseconds beyond which pauses do not grow: a network that is back is noticed this late. */
const LONGEST_MS = 30_000

/**
 * How long to wait before the next try after `failures` of them in a row (1 or more), ms: twice as long each time, up to half a
 * minute, and by `chance` (0 to 1) up to half of that less, so that a thousand endpoints do not come back at once.
 */
export function pauseAfter(failures: number, chance: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16))
  return Math.round(whole * (1 - chance / 2))
}

/**
 * When to renew what lasts for `lifetimeMs`, ms from now: after half of it at the earliest and five sixths at the latest, by
 * `chance` (0 to 1), so that renewals of many do not meet and there is time for a second try.
 */
export function renewAfter(lifetimeMs: number, chance: number): number {
  return Math.round(lifetimeMs * (1 / 2 + chance / 3))
}

/** The answer of a router instead of a connection, as far as it says. */
export interface RouterRefusal {
  readonly text: string
  /** The number of the error, where the router is of the line 1.6 or newer and knows one. */
  readonly code: number | undefined
  readonly failingPostureChecks: readonly string[]
}

/** The meaning of a refusal for a dialer or a host. `STALE_SESSION`: with a new session it may go well. */
export type RefusalMeaning =
  | 'STALE_SESSION'
  | 'CONTROLLER_UNREACHABLE'
  | 'SERVICE_NOT_FOUND'
  | 'ACCESS_DENIED'
  | 'POSTURE_FAILED'
  | 'NO_PEER_KEY'
  | 'NO_HOST'
  | 'HOST_REFUSED'
  | 'TIMED_OUT'
  | 'NO_ROUTER'

const BY_CODE: Readonly<Record<number, RefusalMeaning>> = {
  2: 'STALE_SESSION',
  3: 'STALE_SESSION',
  4: 'STALE_SESSION',
  5: 'STALE_SESSION',
  6: 'SERVICE_NOT_FOUND',
  11: 'NO_PEER_KEY',
  12: 'STALE_SESSION',
  14: 'ACCESS_DENIED',
  15: 'POSTURE_FAILED',
}

const AWAY = 'CONTROLLER_UNREACHABLE'

/** Routers say most refusals in words alone; the first that fits counts. */
const BY_WORDS: readonly (readonly [RegExp, RefusalMeaning])[] = [
  [/^the (router has no controller|controller (did not answer|failed)|storage of the controller)/i, AWAY],
  [/^no controller (available|took the terminator)/i, AWAY],
  [/encryption required|public (key|header)/i, 'NO_PEER_KEY'],
  [/invalid (api )?session|session (is )?(not found|invalid|expired)/i, 'STALE_SESSION'],
  [/posture/i, 'POSTURE_FAILED'],
  [/access (is )?(denied|lost)|no access|not authorized/i, 'ACCESS_DENIED'],
  [/rejected by application|refused|not in allowed|no such host|server misbehaving/i, 'HOST_REFUSED'],
  [/time-?d? ?out|deadline/i, 'TIMED_OUT'],
  [/no path|router is stopping|too many (circuits|routes)/i, 'NO_ROUTER'],
  [/terminator/i, 'NO_HOST'],
]

/**
 * Tells the meaning of a router's refusal of a dial or a bind. The number decides where it says more than that something failed, else the
 * words; what nobody knows is the host's refusal, whose words are free.
 */
export function meaningOf({ text, code }: RouterRefusal): RefusalMeaning {
  const byCode = code === undefined ? undefined : BY_CODE[code]
  // A controller that judges posture refuses by the number of a missing service, so that endpoints look their services up again.
  if (byCode === 'SERVICE_NOT_FOUND' && /posture/i.test(text)) return 'POSTURE_FAILED'
  if (byCode !== undefined) return byCode
  // Clients renew their session for an empty text as well: routers of old lines say nothing when it is gone.
  if (text === '') return 'STALE_SESSION'
  return BY_WORDS.find(([words]) => words.test(text))?.[1] ?? 'HOST_REFUSED'
}
