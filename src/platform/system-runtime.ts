import type { Random } from '../ports/random.ts'

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const BASE32_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_LENGTH = 10
/** Bytes from here on would make the first letters of the alphabet likelier, so they are drawn again. */
const UNBIASED = 256 - (256 % ALPHABET.length)

/** So many bytes are drawn at once for ids, because each draw costs more than what it yields. */
const DRAWN = 2000

/** Bytes for ids that were drawn and not used yet. */
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
