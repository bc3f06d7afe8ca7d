/** A router over which an identity may reach a service, as a controller offers it. */
export interface RouterOffer {
  readonly name: string
  /** `tls://HOST:PORT`; undefined for a router without a usable address. */
  readonly address: string | undefined
  readonly isOnline: boolean
  readonly cost: number
}

/**
 * The routers to try, in order: connected routers, then online routers, each by ascending cost. Routers that the controller reports offline
 * come last, since its report may be late.
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

/** Milliseconds before the first retry. */
const FIRST_MS = 500
/** The longest pause in ms: a network that is back is noticed at most this late. */
const LONGEST_MS = 30_000

/**
 * Milliseconds before the next try after `failures` in a row (1 or more). The pause doubles each time, up to half a minute. `chance` (0 to
 * 1) shortens it by up to half, so that a thousand endpoints do not come back at once.
 */
export function pauseAfter(failures: number, chance: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16))
  return Math.round(whole * (1 - chance / 2))
}

/**
 * Milliseconds until the renewal of a credential with a lifetime of `lifetimeMs`: between a half and five sixths of it, by `chance` (0 to
 * 1). Renewals of many endpoints then spread, and time remains for a second try.
 */
export function renewAfter(lifetimeMs: number, chance: number): number {
  return Math.round(lifetimeMs * (1 / 2 + chance / 3))
}

/** The refusal of a connection by a router. */
export interface RouterRefusal {
  readonly text: string
  /** The number of the error, from routers of version 1.6 or newer; undefined without a number. */
  readonly code: number | undefined
  readonly failingPostureChecks: readonly string[]
}

/** The meaning of a refusal for a dialer or a host. `STALE_SESSION`: a new session may succeed. */
export type RefusalMeaning =
  | 'STALE_SESSION'
  | 'CONTROLLER_UNREACHABLE'
  | 'SERVICE_NOT_FOUND'
  | 'ACCESS_DENIED'
  | 'POSTURE_FAILED'
  | 'NO_PEER_KEY'
  | 'NOT_PROVED'
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

/** Meanings by the text of a refusal, for refusals without a number; the first match counts. */
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
 * Tells the meaning of a router's refusal of a dial or a bind. A specific number decides, else the text. Unknown text is a refusal by the
 * host, which may use any words.
 */
export function meaningOf({ text, code }: RouterRefusal): RefusalMeaning {
  // It has no number of its own yet.
  if (/DirectE2EE/.test(text)) return 'NOT_PROVED'
  const byCode = code === undefined ? undefined : BY_CODE[code]
  // A controller that judges posture refuses with the number of a missing service, so that endpoints reload their services.
  if (byCode === 'SERVICE_NOT_FOUND' && /posture/i.test(text)) return 'POSTURE_FAILED'
  if (byCode !== undefined) return byCode
  // Empty text means a stale session too: old routers give no text for an ended session.
  if (text === '') return 'STALE_SESSION'
  return BY_WORDS.find(([words]) => words.test(text))?.[1] ?? 'HOST_REFUSED'
}
