import type * as x509 from '@peculiar/x509'
import { isStorable } from '../../base/text.ts'
import type { CsrProblem } from '../../ports/pki.ts'
import type { Library } from './asn1-structures.ts'
import { DER_TAGS, type DerElement, readElements, readSequence, readSigned, type Signed } from './der.ts'
import { attributeTextsOf, commonNameOf, hostName } from './distinguished-names.ts'
import { MAX_PEM_SIZE, readPemBlocks } from './pem.ts'
import { readPublicKey, WeakKey } from './public-key.ts'
import { verifiesSignature } from './signing-key.ts'

/** The parts of a signing request that a certificate may take over. The only requested extension that counts is a router's names. */
export interface SigningRequest {
  readonly subject: RequestedSubject
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array<ArrayBuffer>
  /** Host names, addresses and mail names that the request asks for. Throws for malformed names. */
  requestedNames(): x509.JsonGeneralNames
}

/** The holder of a certificate, in DER as written and as text, such as `CN=device,O=Example`. */
export interface RequestedSubject {
  readonly der: Uint8Array<ArrayBuffer>
  readonly text: string
  /** Empty for a subject without a common name. */
  readonly commonName: string
}

/** Every certificate for a subject contains a copy of it; real subjects take some hundred octets. */
const MAX_SUBJECT_SIZE = 4096

/**
 * Reads a PKCS#10 request (RFC 2986) from one PEM block, whatever its label, and checks that its key is strong enough and signed the
 * request.
 */
export async function readSigningRequest(library: Library, pem: string): Promise<SigningRequest | CsrProblem> {
  if (pem.trim() === '') return 'missing'
  try {
    const der = readSingleBlock(pem)
    const { signed, subject, key } = takeApart(der)
    const publicKey = readPublicKey(library, key.whole)
    if (subject.whole.length > MAX_SUBJECT_SIZE) return 'unparsable'
    const name = library.schema.AsnConvert.parse(subject.whole, library.asn1.Name)
    const text = new library.x509.Name(name).toString()
    if (![text, ...attributeTextsOf(name)].every(isStorable)) return 'unparsable'
    if (!(await verifiesSignature(signed, publicKey))) return 'bad-signature'
    return {
      subject: { der: subject.whole, text, commonName: commonNameOf(name) },
      publicKey: key.whole,
      requestedNames: () => requestedNames(library, new library.x509.Pkcs10CertificateRequest(der)),
    }
  } catch (problem) {
    return problem instanceof WeakKey ? 'weak-key' : 'unparsable'
  }
}

function takeApart(der: Uint8Array<ArrayBuffer>): {
  readonly signed: Signed
  readonly subject: DerElement
  readonly key: DerElement
} {
  const signed = readSigned(der)
  const [version, subject, key, attributes, ...others] = readSequence(signed.body)
  if (version?.tag !== DER_TAGS.integer || subject?.tag !== DER_TAGS.sequence || key?.tag !== DER_TAGS.sequence) {
    throw new Error('signing request is malformed')
  }
  if (others.length > 0 || (attributes !== undefined && !areAttributes(attributes))) {
    throw new Error('signing request has malformed attributes')
  }
  return { signed, subject, key }
}

/** Reports whether each attribute is an object identifier with a set of values. The values themselves are parsed on demand. */
function areAttributes({ tag, content }: DerElement): boolean {
  if (tag !== DER_TAGS.context0) return false
  return readElements(content).every(({ tag, content }) => {
    const [type, values, ...others] = tag === DER_TAGS.sequence ? readElements(content) : []
    return type?.tag === DER_TAGS.objectIdentifier && values?.tag === DER_TAGS.set && others.length === 0
  })
}

function readSingleBlock(pem: string): Uint8Array<ArrayBuffer> {
  if (pem.length > MAX_PEM_SIZE) throw new Error('signing request is larger than 64 KiB')
  const [block, ...others] = readPemBlocks(pem)
  if (block === undefined || others.length > 0) throw new Error('signing request is not exactly one PEM block')
  const lastLine = pem.trimEnd().split('\n').at(-1)?.trim()
  if (lastLine !== `-----END ${block.label}-----`) throw new Error('signing request has text after its PEM block')
  return block.der
}

const REQUESTED_ALT_NAME = '2.5.29.17'
const MAX_NAMES = 100

/**
 * The host names, IP addresses and mail names that a signing request asks for. Names of other kinds, including URIs, are left out: the
 * network decides what a certificate stands for. Throws for more than 100 names or a malformed name.
 */
function requestedNames({ x509 }: Library, request: x509.Pkcs10CertificateRequest): x509.JsonGeneralName[] {
  const extension = request.getExtension(REQUESTED_ALT_NAME)
  const names = extension instanceof x509.SubjectAlternativeNameExtension ? extension.names.toJSON() : []
  if (names.length > MAX_NAMES) throw new Error('signing request asks for too many names')
  return names.flatMap(({ type, value }) => {
    if (type === 'dns' || type === 'ip') return [hostName(value)]
    return type === 'email' ? [{ type, value }] : []
  })
}
