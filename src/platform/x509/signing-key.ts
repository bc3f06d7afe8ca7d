import type { webcrypto } from 'node:crypto'
import { type DerElement, derTag, fieldsOf, readDer } from './der.ts'
import { readOid } from './der-values.ts'
import { integer, nullValue, type Octets, octetString, oid, sequence } from './der-writer.ts'
import { oids } from './oids.ts'
import { readPemBlocks } from './pem.ts'
import type { PublicKey } from './public-key.ts'
import { importParameters, verifiesSignature, writeEcdsaSignature } from './signature.ts'

/** A private key ready to sign, with the names that certificates and tokens give to its algorithm. */
export interface SigningKey {
  readonly key: webcrypto.CryptoKey
  /** AlgorithmIdentifier of the signatures, DER. */
  readonly algorithm: Octets
  /** JSON Web Algorithm: ES256, ES384, ES512, RS256 or EdDSA. */
  readonly jwa: string
  /** Signs and answers the signature as it stands in a certificate. */
  sign(body: Uint8Array<ArrayBuffer>): Promise<Octets>
}

const ecdsa = {
  'P-256': { hash: 'SHA-256', signatureOid: oids.ecdsaSha256, jwa: 'ES256' },
  'P-384': { hash: 'SHA-384', signatureOid: oids.ecdsaSha384, jwa: 'ES384' },
  'P-521': { hash: 'SHA-512', signatureOid: oids.ecdsaSha512, jwa: 'ES512' },
} as const

const schemeOf = (key: PublicKey): { hash: string; algorithm: Octets; jwa: string } => {
  switch (key.kind) {
    case 'EC': {
      const { hash, signatureOid, jwa } = ecdsa[key.curve]
      return { hash, algorithm: sequence(oid(signatureOid)), jwa }
    }
    case 'RSA':
      return { hash: 'SHA-256', algorithm: sequence(oid(oids.rsaSha256), nullValue), jwa: 'RS256' }
    case 'Ed25519':
      return { hash: 'SHA-512', algorithm: sequence(oid(oids.ed25519)), jwa: 'EdDSA' }
  }
}

/** Makes a signing key of a WebCrypto key whose public half is `publicKey`. */
export const signingKeyOf = (key: webcrypto.CryptoKey, publicKey: PublicKey): SigningKey => {
  const { hash, algorithm, jwa } = schemeOf(publicKey)
  const sign = async (body: Uint8Array<ArrayBuffer>) => {
    const signature = new Uint8Array(await crypto.subtle.sign({ name: key.algorithm.name, hash }, key, body))
    return publicKey.kind === 'EC' ? writeEcdsaSignature(signature) : signature
  }
  return { key, algorithm, jwa, sign }
}

/**
 * Loads a private key from PEM: PKCS#8, or the older `EC PRIVATE KEY` and `RSA PRIVATE KEY` forms. Throws unless it is
 * the private half of `publicKey`, which it proves by signing.
 */
export const loadSigningKey = async (pem: string, publicKey: PublicKey, spki: DerElement): Promise<SigningKey> => {
  const block = readPemBlocks(pem).find(({ label }) => label.endsWith('PRIVATE KEY'))
  if (block === undefined) throw new Error('no private key found')
  const pkcs8 = asPkcs8(block.label, block.der)
  const { hash } = schemeOf(publicKey)
  const key = await crypto.subtle
    .importKey('pkcs8', pkcs8, importParameters(publicKey, hash), false, ['sign'])
    .catch(() => undefined)
  if (key === undefined) throw new Error('does not match its certificate, or cannot be parsed')
  const signingKey = signingKeyOf(key, publicKey)
  const body = crypto.getRandomValues(new Uint8Array(32))
  const probe = { body, algorithm: readDer(signingKey.algorithm), signature: await signingKey.sign(body) }
  if (!(await verifiesSignature(probe, publicKey, spki))) throw new Error('does not match its certificate')
  return signingKey
}

const asPkcs8 = (label: string, der: Uint8Array<ArrayBuffer>): Octets => {
  switch (label) {
    case 'PRIVATE KEY':
      return der
    case 'RSA PRIVATE KEY':
      return sequence(integer(0), sequence(oid(oids.rsaEncryption), nullValue), octetString(der))
    case 'EC PRIVATE KEY': {
      const fields = fieldsOf(readDer(der))
      fields.take(derTag.integer)
      fields.take(derTag.octetString)
      const curve = fields.take(0xa0)
      return sequence(
        integer(0),
        sequence(oid(oids.ecPublicKey), oid(readOid(readDer(curve.content, derTag.oid)))),
        octetString(der),
      )
    }
    default:
      throw new Error(`${label} is not supported; use an unencrypted PKCS#8 key`)
  }
}
