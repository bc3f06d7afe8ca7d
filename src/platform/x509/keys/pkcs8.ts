import { readPemBlocks } from '../encoding/pem.ts'
import { readSequence } from '../encoding/read-der.ts'
import { DER_TAGS, writeDer } from '../encoding/write-der.ts'
import type { PublicKey } from './public-key.ts'

const VERSION_0 = Uint8Array.of(0)

/** The PKCS#8 form of a PEM private key: of that form itself, or the older `EC PRIVATE KEY` and `RSA PRIVATE KEY`. */
export function readPkcs8(pem: string, publicKey: PublicKey): Uint8Array<ArrayBuffer> {
  const block = readPemBlocks(pem).find(({ label }) => label.endsWith('PRIVATE KEY'))
  if (block === undefined) throw new Error('no private key found')
  switch (block.label) {
    case 'PRIVATE KEY':
      return block.der
    case 'EC PRIVATE KEY':
    case 'RSA PRIVATE KEY':
      return wrapInPkcs8(block.der, publicKey)
    default:
      throw new Error(`${block.label} is not supported; use an unencrypted PKCS#8 key`)
  }
}

/** The older forms are what PKCS#8 wraps, and a key that matches its certificate has the algorithm named there. */
function wrapInPkcs8(der: Uint8Array, publicKey: PublicKey): Uint8Array<ArrayBuffer> {
  const { integer, octetString, sequence } = DER_TAGS
  const [algorithm] = readSequence(publicKey.der)
  if (algorithm === undefined) throw new Error('names no algorithm')
  return writeDer(sequence, writeDer(integer, VERSION_0), algorithm.whole, writeDer(octetString, der))
}
