import { LoopTurns } from '../concurrency/loop-turns.ts'
import type { Digest } from '../ports/credentials.ts'
import type { Clock, Random, Scheduler, Turns } from '../ports/runtime.ts'

/** The clock of the host. */
export const systemClock: Clock = { now: () => Date.now() }

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
    AHEAD.bytes = crypto.getRandomValues(new Uint8Array(DRAWN))
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
  uuid: () => crypto.randomUUID(),
  base32: (length) =>
    Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => BASE32_LETTERS.charAt(byte % 32)).join(''),
}

/** Longest sleep (ms): timers overflow after 24.8 days, and a clock that is set forward is noticed within a minute. */
const LONGEST_SLEEP_MS = 60_000

/** Timers of the host, read against the controller's clock; they do not keep the process running. */
export function createScheduler(clock: Clock): Scheduler {
  return {
    at(instant, work) {
      let timer: ReturnType<typeof setTimeout>
      const sleep = () => {
        const remaining = Math.max(0, instant - clock.now())
        timer = setTimeout(wake, Math.min(remaining, LONGEST_SLEEP_MS))
        // Other runtimes than Node answer a number, which does not keep the process alive either.
        if (typeof timer === 'object') timer.unref()
      }
      const wake = () => {
        if (clock.now() < instant) sleep()
        else void work()
      }
      sleep()
      return () => clearTimeout(timer)
    },
  }
}

/** `setImmediate` of Node handles input before the callback. The fallback, a timer, waits a millisecond at least. */
function callLater(work: () => void): void {
  if ('setImmediate' in globalThis) setImmediate(work)
  else setTimeout(work, 0)
}

/** Node calls the ticks that microtasks ask for when no microtask is left. Elsewhere the work is another microtask. */
function callSoon(work: () => void): void {
  queueMicrotask('process' in globalThis ? () => process.nextTick(work) : work)
}

/** Turns of the host's event loop. */
export function createLoopTurns(): Turns {
  return new LoopTurns({ now: () => performance.now(), later: callLater, soon: callSoon })
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
