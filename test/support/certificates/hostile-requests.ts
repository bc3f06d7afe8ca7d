import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { createCsr, createCsrPem, createKeys, issueClient, keyPemOf, pemOf } from './certificates.ts'
import { algorithmIdentifier, bitString, concatOctets, element, elementsOf, sequence, unsigned } from './der.ts'
import { opensslOutput } from './openssl.ts'

/** Why a request is refused. */
type CsrProblem = 'missing' | 'unparsable' | 'bad-signature' | 'weak-key'

const csrPem = (der: Uint8Array) => `${x509.PemConverter.encode(new Uint8Array(der), 'CERTIFICATE REQUEST')}\n`

const fromKey = (key: KeyObject, ...digest: string[]): string =>
  opensslOutput(['req', '-new', '-key', 'k.pem', '-subj', '/CN=device', ...digest], {
    'k.pem': key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  })

const ecKey = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey
const rsaKey = (modulusLength: number, publicExponent: number) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey

const rsaSha256 = algorithmIdentifier('1.2.840.113549.1.1.11', null)
const ecPublicKey = '1.2.840.10045.2.1'
/** The object identifier of P-256, encoded. */
const p256 = element(0x06, Uint8Array.of(0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7))

/** Takes an honest request apart and puts it together again with something changed, the signature as it was. */
const rebuilt = async (
  change: (parts: { info: Uint8Array[]; algorithm: Uint8Array; signature: Uint8Array }) => Uint8Array,
) => {
  const [info, algorithm, signature] = elementsOf(new Uint8Array((await createCsr()).rawData))
  if (!info || !algorithm || !signature) throw new Error('a request has three parts')
  return csrPem(change({ info: elementsOf(info), algorithm, signature }))
}

const withKey = (spki: Uint8Array) =>
  rebuilt(({ info, algorithm, signature }) =>
    sequence(sequence(...info.slice(0, 2), spki, ...info.slice(3)), algorithm, signature),
  )

const ecSpki = (curve: Uint8Array<ArrayBuffer>, point: Uint8Array) =>
  sequence(algorithmIdentifier(ecPublicKey, curve), bitString(point))

const rsaSpki = (modulus: Uint8Array, exponent: Uint8Array) =>
  sequence(
    algorithmIdentifier('1.2.840.113549.1.1.1', null),
    bitString(sequence(unsigned(modulus), unsigned(exponent))),
  )

const modulus = (octets: number) => new Uint8Array(octets).fill(0xc5)

/** With the exponent 1 everybody can sign: the signature is the padded digest itself. */
const signedByNobody = async (): Promise<string> => {
  const key = rsaSpki(modulus(256), Uint8Array.of(1))
  return rebuilt(({ info }) => {
    const body = sequence(...info.slice(0, 2), key, ...info.slice(3))
    return sequence(body, rsaSha256, bitString(new Uint8Array(256).fill(1)))
  })
}

const point = async (change: (point: Uint8Array) => Uint8Array) => {
  const raw = new Uint8Array(await crypto.subtle.exportKey('raw', (await createKeys()).publicKey))
  return withKey(ecSpki(p256, change(raw)))
}

const nested = (depth: number, open: readonly number[]) =>
  csrPem(Uint8Array.from(Array.from({ length: depth }, () => open).flat()))

const nestedSequences = (depth: number): Uint8Array => {
  let inner: Uint8Array = new Uint8Array()
  for (let level = 0; level < depth; level += 1) inner = sequence(inner)
  return inner
}

const emptySequences = (count: number) => Uint8Array.from({ length: 2 * count }, (_, at) => (at % 2 === 0 ? 0x30 : 0))

const flipLast = (text: Uint8Array): Uint8Array => text.with(-1, (text.at(-1) ?? 0) ^ 1)

/** Requests that must be refused, with the reason. */
export const refusedRequests: readonly (readonly [string, CsrProblem, () => string | Promise<string>])[] = [
  [
    'a changed signature',
    'bad-signature',
    () => rebuilt((p) => sequence(sequence(...p.info), p.algorithm, flipLast(p.signature))),
  ],
  [
    'an empty signature',
    'bad-signature',
    () => rebuilt((p) => sequence(sequence(...p.info), p.algorithm, bitString(new Uint8Array()))),
  ],
  [
    'a signature of zeros',
    'bad-signature',
    () =>
      rebuilt((p) =>
        sequence(
          sequence(...p.info),
          p.algorithm,
          bitString(sequence(unsigned(Uint8Array.of(0)), unsigned(Uint8Array.of(0)))),
        ),
      ),
  ],
  [
    'a changed subject',
    'bad-signature',
    () =>
      rebuilt(({ info, algorithm, signature }) =>
        sequence(
          sequence(...info.slice(0, 1), new Uint8Array(new x509.Name('CN=admin').toArrayBuffer()), ...info.slice(2)),
          algorithm,
          signature,
        ),
      ),
  ],
  [
    'somebody else’s key',
    'bad-signature',
    async () => withKey(new Uint8Array(await crypto.subtle.exportKey('spki', (await createKeys()).publicKey))),
  ],
  [
    'a signature algorithm of another kind of key',
    'bad-signature',
    () => rebuilt((p) => sequence(sequence(...p.info), rsaSha256, p.signature)),
  ],
  [
    'an unknown signature algorithm',
    'bad-signature',
    () => rebuilt((p) => sequence(sequence(...p.info), algorithmIdentifier('1.2.3.4'), p.signature)),
  ],
  ['a signature over SHA-1', 'bad-signature', () => createCsrPem({ hash: 'SHA-1' })],
  ['a signature over MD5', 'bad-signature', () => fromKey(rsaKey(2048, 65537), '-md5')],
  [
    'an ECDSA signature that is not DER',
    'bad-signature',
    () =>
      rebuilt((p) => {
        const [r, s] = elementsOf(p.signature.subarray(3))
        const parts = concatOctets([r ?? p.signature, s ?? p.signature])
        const signature = concatOctets([Uint8Array.of(0x30, 0x81, parts.length), parts])
        return sequence(sequence(...p.info), p.algorithm, bitString(signature))
      }),
  ],
  ['a point that is not on its curve', 'bad-signature', () => point(flipLast)],
  ['RSA of 1024 bits', 'weak-key', () => fromKey(rsaKey(1024, 65537))],
  ['RSA of 2047 bits', 'weak-key', () => withKey(rsaSpki(modulus(256).with(0, 0x7f), Uint8Array.of(1, 0, 1)))],
  ['RSA of 16384 bits', 'weak-key', () => withKey(rsaSpki(modulus(2048), Uint8Array.of(1, 0, 1)))],
  ['RSA with exponent 3', 'weak-key', () => fromKey(rsaKey(2048, 3))],
  ['RSA with exponent 1', 'weak-key', signedByNobody],
  ['RSA with an even exponent', 'weak-key', () => withKey(rsaSpki(modulus(256), Uint8Array.of(1, 0, 0)))],
  ['RSA with a huge exponent', 'weak-key', () => withKey(rsaSpki(modulus(256), modulus(255)))],
  ['RSA with an even modulus', 'weak-key', () => withKey(rsaSpki(modulus(256).with(-1, 2), Uint8Array.of(1, 0, 1)))],
  [
    'RSA under the name of a signature algorithm',
    'weak-key',
    () => withKey(sequence(rsaSha256, bitString(sequence(unsigned(modulus(256)), unsigned(Uint8Array.of(1, 0, 1)))))),
  ],
  ['secp256k1', 'weak-key', () => fromKey(ecKey('secp256k1'))],
  ['P-192', 'weak-key', () => fromKey(ecKey('prime192v1'))],
  ['P-224', 'weak-key', () => fromKey(ecKey('secp224r1'))],
  [
    'a curve by explicit parameters',
    'weak-key',
    () => withKey(ecSpki(sequence(unsigned(Uint8Array.of(1))), modulus(65))),
  ],
  ['Ed448', 'weak-key', () => fromKey(generateKeyPairSync('ed448').privateKey)],
  ['the point at infinity', 'unparsable', () => point(() => Uint8Array.of(0))],
  ['a compressed point', 'unparsable', () => point((raw) => raw.slice(0, 33).with(0, 2))],
  ['nothing', 'missing', () => ''],
  ['white space', 'missing', () => ' \r\n\t'],
  ['no PEM', 'unparsable', () => 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'],
  ['a block without its end', 'unparsable', async () => (await createCsrPem()).slice(0, -10)],
  ['two requests', 'unparsable', async () => `${await createCsrPem()}\n${await createCsrPem()}\n`],
  ['text after the request', 'unparsable', async () => `${await createCsrPem()}\nand more`],
  ['text that looks like an end after the request', 'unparsable', async () => `${await createCsrPem()}\nmore-----`],
  ['PEM headers', 'unparsable', async () => (await createCsrPem()).replace('\n', '\nProc-Type: 4,ENCRYPTED\n\n')],
  [
    'PEM headers that can be folded in many ways',
    'unparsable',
    () => `-----BEGIN CERTIFICATE REQUEST-----\na: b\n${' c: d\n'.repeat(5_000)}!\n-----END CERTIFICATE REQUEST-----\n`,
  ],
  [
    'PEM inside of PEM, with headers that can be folded in many ways',
    'unparsable',
    () => csrPem(new TextEncoder().encode(`-----BEGIN X-----\na: b\n${' c: d\n'.repeat(5_000)}!\n`)),
  ],
  ['more than 64 KiB of text', 'unparsable', async () => `${'#\n'.repeat(33_000)}${await createCsrPem()}`],
  ['a block over 64 KiB', 'unparsable', () => csrPem(new Uint8Array(70_000).fill(0x30))],
  ['a certificate', 'unparsable', async () => pemOf(await issueClient())],
  ['a private key', 'unparsable', async () => keyPemOf(await createKeys())],
  [
    'a structure that is cut off',
    'unparsable',
    async () => csrPem(new Uint8Array((await createCsr()).rawData).slice(0, -3)),
  ],
  [
    'octets after the structure',
    'unparsable',
    async () => csrPem(concatOctets([new Uint8Array((await createCsr()).rawData), Uint8Array.of(5, 0)])),
  ],
  [
    'a length that is not minimal',
    'unparsable',
    () =>
      rebuilt((p) => {
        const parts = concatOctets([sequence(...p.info), p.algorithm, p.signature])
        return concatOctets([Uint8Array.of(0x30, 0x83, 0, parts.length >> 8, parts.length & 0xff), parts])
      }),
  ],
  [
    'another tag in place of the outermost',
    'unparsable',
    () => rebuilt((p) => element(0xb0, sequence(...p.info), p.algorithm, p.signature)),
  ],
  [
    'another tag in place of that of the signature algorithm',
    'unparsable',
    () => rebuilt((p) => sequence(sequence(...p.info), element(0xa1, ...elementsOf(p.algorithm)), p.signature)),
  ],
  [
    'unused bits in the signature',
    'unparsable',
    () => rebuilt((p) => sequence(sequence(...p.info), p.algorithm, p.signature.with(2, 1))),
  ],
  ['a subject of a thousand names', 'unparsable', () => createCsrPem({ subject: 'CN=x, '.repeat(1_000).slice(0, -2) })],
  ['nested indefinite lengths', 'unparsable', () => nested(24_000, [0x30, 0x80])],
  ['nested sequences', 'unparsable', () => csrPem(nestedSequences(2_000))],
  ['a crowd of empty sequences', 'unparsable', () => csrPem(sequence(emptySequences(20_000)))],
  ['a length of four gigabytes', 'unparsable', () => csrPem(Uint8Array.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff))],
  ['a subject of 40 KiB', 'unparsable', () => createCsrPem({ subject: `CN=${'x'.repeat(40_000)}` })],
]
