import { LoopTurns } from '../concurrency/loop-turns.ts'
import { runtime } from '../concurrency/process-runtime.ts'
import type { Digest } from '../ports/credentials.ts'
import type { Clock, Random, Scheduler, Turns } from '../ports/runtime.ts'

/** The clock of the host. */
export const systemClock: Clock = { now: () => runtime.now() }

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const BASE32_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_LENGTH = 10
/** Bytes from here on would favour the first letters of the alphabet, so they are drawn again. */
const UNBIASED = 256 - (256 % ALPHABET.length)

/** Random bytes that are drawn at once for ids: the call costs more than the bytes. */
const DRAWN = 2000

/** Drawn bytes for ids that are not used yet. */
const AHEAD = { bytes: new Uint8Array(0), used: 0 }

function nextByte(): number {
  if (AHEAD.used >= AHEAD.bytes.length) {
    AHEAD.bytes = runtime.bytes(DRAWN)
    AHEAD.used = 0
  }
  const byte = AHEAD.bytes[AHEAD.used] ?? 0
  AHEAD.used += 1
  return byte
}

/** Randomness of the runtime's WebCrypto. Ids are ten characters of 0-9a-zA-Z, each equally likely (59 bits). */
export const systemRandom: Random = {
  id: () => {
    let id = ''
    while (id.length < ID_LENGTH) {
      const byte = nextByte()
      if (byte < UNBIASED) id += ALPHABET.charAt(byte % ALPHABET.length)
    }
    return id
  },
  uuid: () => runtime.uuid(),
  base32: (length) => Array.from(runtime.bytes(length), (byte) => BASE32_LETTERS.charAt(byte % 32)).join(''),
}

/** Longest sleep (ms): timers overflow after 24.8 days, and a clock that is set forward is noticed within a minute. */
const LONGEST_SLEEP_MS = 60_000

/** Timers of the host, read against the controller's clock; they do not keep the process running. */
export function createScheduler(clock: Clock): Scheduler {
  return {
    at(instant, work) {
      let cancel: () => void
      const sleep = () => {
        const remaining = Math.max(0, instant - clock.now())
        cancel = runtime.timer(Math.min(remaining, LONGEST_SLEEP_MS), wake)
      }
      const wake = () => {
        if (clock.now() < instant) sleep()
        else void work()
      }
      sleep()
      return () => cancel()
    },
  }
}

/** Turns of the host's event loop. */
export function createLoopTurns(): Turns {
  return new LoopTurns({ now: () => runtime.monotonic(), later: runtime.later, soon: runtime.soon })
}

/**
 * Digests computed synchronously by the runtime's `node:crypto` (Node, Bun, Deno, Workers). WebCrypto uses a thread, which costs a request
 * more than all its other work.
 */
export async function createDigest(): Promise<Digest> {
  const { createHash, hash } = await import('node:crypto')
  // Some runtimes lack the one-shot function `hash`.
  if (hash === undefined) return { sha256: (text) => createHash('sha256').update(text).digest('hex') }
  return { sha256: (text) => hash('sha256', text) }
}
