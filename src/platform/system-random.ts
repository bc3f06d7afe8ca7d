import type { Random } from '../ports/random.ts'

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const base32Letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const idLength = 10
/** Bytes from here on would make the first letters of the alphabet likelier, so they are drawn again. */
const unbiased = 256 - (256 % alphabet.length)

/** Randomness of the runtime's WebCrypto. Ids are ten characters of 0-9a-zA-Z, each equally likely (59 bits). */
export const systemRandom: Random = {
  id: () => {
    let id = ''
    while (id.length < idLength) {
      for (const byte of crypto.getRandomValues(new Uint8Array(2 * idLength))) {
        if (byte < unbiased && id.length < idLength) id += alphabet.charAt(byte % alphabet.length)
      }
    }
    return id
  },
  uuid: () => crypto.randomUUID(),
  base32: (length) =>
    Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => base32Letters.charAt(byte % 32)).join(''),
}
