import type * as x509 from '@peculiar/x509'
import { isStorable } from '../../../domain/storable-text.ts'
import type { CsrProblem } from '../../../ports/pki.ts'
import type { Library } from '../encoding/library.ts'
import { consistsOf, parseDer } from '../encoding/parse-der.ts'
import { MAX_PEM_SIZE, readPemBlocks } from '../encoding/pem.ts'
import { readPublicKey, WeakKey } from '../keys/public-key.ts'
import { verifiesSignature } from '../keys/signature.ts'
import { attributeTextsOf, commonNameOf } from '../names/name.ts'
import { requestedNames } from './requested-names.ts'

/** What a certificate may take from a signing request. Of requested extensions only a router's names are looked at. */
export interface SigningRequest {
  readonly subject: x509.Name
  /** The common name of the subject; empty when it has none. */
  readonly commonName: string
  readonly publicKey: x509.PublicKey
  /** Host names, addresses and mail names that the request asks for. Throws when they are malformed. */
  requestedNames(): x509.JsonGeneralNames
}

/** A subject is copied into every certificate that is issued for it; real ones take some hundred octets. */
const MAX_SUBJECT_SIZE = 4096

/**
 * Reads a PKCS#10 request (RFC 2986) from one PEM block, whatever its label, and checks that its key is strong enough
 * and signed it.
 */
export async function readSigningRequest(library: Library, pem: string): Promise<SigningRequest | CsrProblem> {
  if (pem.trim() === '') return 'missing'
  try {
    const request = parseRequest(library, readSingleBlock(pem))
    const key = readPublicKey(library, request)
    const { subjectName: subject, publicKey } = request
    if (subject.toArrayBuffer().byteLength > MAX_SUBJECT_SIZE) return 'unparsable'
    const name = library.schema.AsnConvert.parse(subject.toArrayBuffer(), library.asn1.Name)
    if (![subject.toString(), ...attributeTextsOf(name)].every(isStorable)) return 'unparsable'
    return (await verifiesSignature(library, request, key))
      ? { subject, commonName: commonNameOf(name), publicKey, requestedNames: () => requestedNames(library, request) }
      : 'bad-signature'
  } catch (problem) {
    return problem instanceof WeakKey ? 'weak-key' : 'unparsable'
  }
}

function parseRequest(library: Library, der: Uint8Array<ArrayBuffer>): x509.Pkcs10CertificateRequest {
  const parts = parseDer(library, der, library.structures.SignedStructure)
  if (!consistsOf(library, der, parts)) throw new Error('signing request is malformed')
  return new library.x509.Pkcs10CertificateRequest(der)
}

function readSingleBlock(pem: string): Uint8Array<ArrayBuffer> {
  if (pem.length > MAX_PEM_SIZE) throw new Error('signing request is larger than 64 KiB')
  const [block, ...others] = readPemBlocks(pem)
  if (block === undefined || others.length > 0) throw new Error('signing request is not exactly one PEM block')
  const lastLine = pem.trimEnd().split('\n').at(-1)?.trim()
  if (lastLine !== `-----END ${block.label}-----`) throw new Error('signing request has text after its PEM block')
  return block.der
}
