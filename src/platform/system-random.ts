import type { Random } from '../ports/random.ts'

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const BASE32_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_LENGTH = 10
/** Bytes from here on would make the first letters of the alphabet likelier, so they are drawn again. */
const UNBIASED = 256 - (256 % ALPHABET.length)

/** Randomness of the runtime's WebCrypto. Ids are ten characters of 0-9a-zA-Z, each equally likely (59 bits). */
export const systemRandom: Random = {
  id: () => {
    let id = ''
    while (id.length < ID_LENGTH) {
      for (const byte of crypto.getRandomValues(new Uint8Array(2 * ID_LENGTH))) {
        if (byte < UNBIASED && id.length < ID_LENGTH) id += ALPHABET.charAt(byte % ALPHABET.length)
      }
    }
    return id
  },
  uuid: () => crypto.randomUUID(),
  base32: (length) =>
    Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => BASE32_LETTERS.charAt(byte % 32)).join(''),
}
