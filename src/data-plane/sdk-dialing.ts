/** The answer of a router instead of a connection, as far as it says. */
export interface RouterRefusal {
  readonly text: string
  /** The number of the error, where the router is of the line 1.6 or newer and knows one. */
  readonly code: number | undefined
  readonly failingPostureChecks: readonly string[]
}

/** The meaning of a refusal for who dials or hosts. `STALE_SESSION`: with a new session it may go well. */
export type RefusalMeaning =
  | 'STALE_SESSION'
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

/** Routers say most refusals in words alone; the first that fits counts. */
const BY_WORDS: readonly (readonly [RegExp, RefusalMeaning])[] = [
  [/encryption required|public (key|header)/i, 'NO_PEER_KEY'],
  [/invalid (api )?session|session (is )?(not found|invalid|expired)/i, 'STALE_SESSION'],
  [/posture/i, 'POSTURE_FAILED'],
  [/access (is )?(denied|lost)|no access|not authorized/i, 'ACCESS_DENIED'],
  [/rejected by application|refused|not in allowed|no such host|server misbehaving/i, 'HOST_REFUSED'],
  [/time-?d? ?out|deadline/i, 'TIMED_OUT'],
  [/no path/i, 'NO_ROUTER'],
  [/terminator/i, 'NO_HOST'],
]

/**
 * Tells the meaning of a router's refusal of a dial or a bind. The number decides where it says more than that something failed, else the
 * words; what nobody knows is the host's refusal, whose words are free.
 */
export function meaningOf({ text, code }: RouterRefusal): RefusalMeaning {
  const byCode = code === undefined ? undefined : BY_CODE[code]
  if (byCode !== undefined) return byCode
  // Clients renew their session for an empty text as well: routers of old lines say nothing when it is gone.
  if (text === '') return 'STALE_SESSION'
  return BY_WORDS.find(([words]) => words.test(text))?.[1] ?? 'HOST_REFUSED'
}
