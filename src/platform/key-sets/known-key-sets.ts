import { BoundedMap } from '../../base/collections.ts'
import type { KeySets } from '../../ports/credentials.ts'
import { type KeySet, readKeySet } from './http-key-sets.ts'

/** How long a key set is believed before it is fetched again, in ms. */
const FRESH_MS = 300_000
/** How long its keys are used while it cannot be fetched. */
const MAX_AGE_MS = 3_600_000
/** The least time between two fetches for tokens whose key is missing or does not fit. */
const MISS_INTERVAL_MS = 1_000
/** The least time between two fetches of a set that is old and could not be fetched: its tokens wait for the attempt. */
const RETRY_INTERVAL_MS = 30_000
/** How many sets are remembered, each of 256 KiB at most. */
const MAX_SETS = 200

const NO_KEYS: KeySet = new Map()

interface Known {
  readonly keys: KeySet
  /** When the keys were fetched, and when that was tried last, in epoch ms. */
  readonly fetchedAt: number
  readonly triedAt: number
}

/** The key sets of signers, as of a short while ago. */
export interface KnownKeySets {
  /** The keys at an endpoint at `now` (epoch ms), asked for again where they are old or `kid` is not among them. */
  keysOf(signer: Endpoint, kid: string, now: number): Promise<KeySet>
  /** The same after `used` did not fit a token: asked for again unless they are others by now. */
  keysAfter(used: KeySet, signer: Endpoint, now: number): Promise<KeySet>
}

/** Whose keys they are, and where; a signer that moves has none of its former keys. */
interface Endpoint {
  readonly id: string
  readonly url: string
}

/**
 * Remembers key sets. A set is fetched again after five minutes, and sooner for a token whose key is missing or does not fit,
 * once in a second at most. So a key that was withdrawn is good for five minutes; for an hour, while its set cannot be fetched.
 */
export function createKnownKeySets(keySets: KeySets): KnownKeySets {
  const known = new BoundedMap<string, Known>(MAX_SETS)
  const pending = new Map<string, Promise<Known>>()

  const fetchSet = async (name: string, url: string, now: number): Promise<Known> => {
    const fetched = await keySets
      .fetch(url)
      .then((text): Known => ({ keys: readKeySet(text), fetchedAt: now, triedAt: now }))
      .catch((): Known => ({ ...(known.get(name) ?? { keys: NO_KEYS, fetchedAt: now }), triedAt: now }))
    known.set(name, fetched)
    return fetched
  }

  const fetchOnce = (name: string, url: string, now: number): Promise<Known> => {
    const fetching = pending.get(name) ?? fetchSet(name, url, now).finally(() => pending.delete(name))
    pending.set(name, fetching)
    return fetching
  }

  return {
    async keysOf({ id, url }, kid, now) {
      const name = nameOf({ id, url })
      const found = known.get(name)
      const isOld = found === undefined || !isWithin(FRESH_MS, found.fetchedAt, now)
      const interval = found?.keys.has(kid) ? RETRY_INTERVAL_MS : MISS_INTERVAL_MS
      const isWanted = isOld || !found.keys.has(kid)
      const mayFetch = found === undefined || !isWithin(interval, found.triedAt, now)
      const current = found === undefined || (isWanted && mayFetch) ? await fetchOnce(name, url, now) : found
      return isWithin(MAX_AGE_MS, current.fetchedAt, now) ? current.keys : NO_KEYS
    },
    async keysAfter(used, { id, url }, now) {
      const name = nameOf({ id, url })
      const found = known.get(name)
      const isTried = found !== undefined && isWithin(MISS_INTERVAL_MS, found.triedAt, now)
      if (found !== undefined && (found.keys !== used || isTried)) return found.keys
      return (await fetchOnce(name, url, now)).keys
    },
  }
}

function nameOf({ id, url }: Endpoint): string {
  return `${id} ${url}`
}

/** Whether less than a span has passed since an instant. What lies ahead, after the clock was put back, was long ago. */
function isWithin(span: number, since: number, now: number): boolean {
  return since <= now && now - since < span
}
