import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { opensslOutput } from '../../support/certificates/openssl.ts'

/** A fresh P-256 private key, PEM. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A fresh RSA private key, PEM. */
export function newRsaKey(modulusLength: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A certificate signing request of a private key, as the openssl command line makes it. */
export function signingRequest(key: string, subject = '/CN=endpoint', more: readonly string[] = []): string {
  return made(key, ['req', '-new', '-key', 'key.pem', '-subj', subject, ...more])
}

/** A certificate that a private key signed for itself, good from yesterday until tomorrow. */
export function selfSigned(key: string, subject = '/CN=endpoint'): string {
  return made(key, ['req', '-x509', '-new', '-key', 'key.pem', '-days', '1', '-subj', subject])
}

/** Output of the openssl command line, by its arguments, with the key that it was made for. */
const outputs = new Map<string, { readonly pem: string; readonly key: string }>()

/** A process for each key takes longer than most tests, so an output is made once and gets the other keys afterwards. */
function made(key: string, args: readonly string[]): string {
  if (createPrivateKey(key).asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    return opensslOutput(args, { 'key.pem': key })
  }
  const name = args.join('\n')
  const known = outputs.get(name)
  if (known !== undefined) return withKey(known.pem, known.key, key)
  const pem = opensslOutput(args, { 'key.pem': key })
  outputs.set(name, { pem, key })
  return pem
}

/** `ecdsa-with-SHA256`, DER. */
const ECDSA_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex')

/** The same request or certificate of another P-256 key, signed by it. */
function withKey(pem: string, from: string, to: string): string {
  const [, label = '', base64 = ''] = pem.match(/-----BEGIN ([A-Z ]+)-----([^-]+)-----END/) ?? []
  // Keys of one curve, and their identifiers, have one length: nothing else moves.
  let hex = Buffer.from(base64, 'base64').toString('hex')
  const [old, next] = [publicKeyOf(from), publicKeyOf(to)]
  hex = hex.replaceAll(old.key, next.key).replaceAll(old.identifier, next.identifier)
  const der = Buffer.from(hex, 'hex')
  const signed = elementAt(der, headLength(der))
  const signature = sign('sha256', signed, to)
  const bits = Buffer.concat([Buffer.from([0x03, signature.length + 1, 0]), signature])
  const body = Buffer.concat([signed, ECDSA_SHA256, bits])
  const length = body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff]
  const head = Buffer.from([0x30, ...length])
  const lines =
    Buffer.concat([head, body])
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** The public point of a key, and its identifier in certificates, hexadecimal. */
function publicKeyOf(key: string) {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const point = spki.subarray(-65)
  return { key: point.toString('hex'), identifier: createHash('sha1').update(point).digest('hex') }
}

/** The DER element that begins at an offset, with its head. */
function elementAt(der: Buffer, offset: number): Buffer {
  const rest = der.subarray(offset)
  const first = rest.readUInt8(1)
  const head = headLength(rest)
  return rest.subarray(0, head + (first < 0x80 ? first : rest.readUIntBE(2, head - 2)))
}

/** The bytes of tag and length before the content of a DER element. */
function headLength(der: Buffer): number {
  const first = der.readUInt8(1)
  return first < 0x80 ? 2 : 2 + (first & 0x7f)
}
