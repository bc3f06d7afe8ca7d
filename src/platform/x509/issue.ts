import type * as x509 from '@peculiar/x509'
import type { SignatureAlgorithm } from '../../ports/credentials.ts'
import type { IssuedRouterCertificates, Pki } from '../../ports/pki.ts'
import type { Library } from './asn1-structures.ts'
import { type Certificate, certificateFacts, pemOf, readCertificate, validityOf } from './certificate.ts'
import { DER_TAGS, writeDer } from './der.ts'
import { nameWithCommonName, uriName } from './distinguished-names.ts'
import { ecdsaToDer } from './public-key.ts'
import type { SigningKey } from './signing-key.ts'
import { readSigningRequest, type SigningRequest } from './signing-request.ts'

/** The contents of a certificate. The issuer adds a serial number and its signature. */
export interface CertificateTemplate {
  /** Names, DER. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  /** Milliseconds since the Unix epoch, written to the second. */
  readonly notBefore: number
  readonly notAfter: number
  /** Each DER. */
  readonly extensions: readonly Uint8Array[]
}

/** Version 3, as encoded in a certificate. */
const VERSION = writeDer(DER_TAGS.context0, writeDer(DER_TAGS.integer, Uint8Array.of(2)))

/** The encoded signature algorithms of certificates (RFC 3279, RFC 4055, RFC 5758, RFC 8410). */
const SIGNATURE_ALGORITHMS: Readonly<Record<SignatureAlgorithm, Uint8Array>> = {
  ES256: algorithmOf([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]),
  ES384: algorithmOf([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03]),
  ES512: algorithmOf([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04]),
  RS256: algorithmOf([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], writeDer(DER_TAGS.null)),
  EdDSA: algorithmOf([0x2b, 0x65, 0x70]),
}

/**
 * Signs a version 3 certificate (RFC 5280) with a serial number of 20 octets, 158 bits of it random; answers DER. The parts are already
 * encoded, and are concatenated as they are.
 */
export async function issueCertificate(
  library: Pick<Library, 'crypto'>,
  template: CertificateTemplate,
  key: Pick<SigningKey, 'algorithm' | 'jwa' | 'sign'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const serial = library.crypto.getRandomValues(new Uint8Array(20))
  // Positive, and without a leading zero that an encoder would drop.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const algorithm = SIGNATURE_ALGORITHMS[key.jwa]
  const { sequence, integer, bitString, context3 } = DER_TAGS
  const body = writeDer(
    sequence,
    VERSION,
    writeDer(integer, serial),
    algorithm,
    template.issuer,
    writeDer(sequence, timeOf(template.notBefore), timeOf(template.notAfter)),
    template.subject,
    template.publicKey,
    writeDer(context3, writeDer(sequence, ...template.extensions)),
  )
  const signed = await key.sign(body)
  const signature = key.algorithm.name === 'ECDSA' ? ecdsaToDer(signed) : signed
  // A bit string begins with the number of unused bits in its last octet.
  return writeDer(sequence, body, algorithm, writeDer(bitString, Uint8Array.of(0), signature))
}

function algorithmOf(identifier: readonly number[], ...parameters: readonly Uint8Array[]): Uint8Array {
  return writeDer(DER_TAGS.sequence, writeDer(DER_TAGS.objectIdentifier, Uint8Array.from(identifier)), ...parameters)
}

/** An instant, in ms since the Unix epoch, to the second: with two digits of its year until 2049 (RFC 5280 section 4.1.2.5). */
function timeOf(instant: number): Uint8Array {
  const digits = new Date(instant)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '')
  const isShort = new Date(instant).getUTCFullYear() < 2050
  const tag = isShort ? DER_TAGS.utcTime : DER_TAGS.generalizedTime
  return writeDer(tag, new TextEncoder().encode(isShort ? digits.slice(2) : digits))
}

/** The authority that signs, with the certificates between it and the root. */
export interface Issuer {
  readonly signing: Certificate
  readonly intermediates: readonly Certificate[]
  readonly signer: SigningKey
}

type RouterRequest = Parameters<Pki['issueRouterCertificates']>[0]

/** Issues both certificates of a router, or neither. */
export async function issueRouterCertificates(
  library: Library,
  { signing, intermediates, signer }: Issuer,
  request: RouterRequest,
): Promise<IssuedRouterCertificates> {
  const { routerId, namesItself, spiffeId, now } = request
  const server = await readSigningRequest(library, request.serverCsrPem)
  if (typeof server === 'string') return { issued: false, of: 'server', problem: server }
  const client = await readSigningRequest(library, request.clientCsrPem)
  if (typeof client === 'string') return { issued: false, of: 'client', problem: client }
  const issue = async (accepted: SigningRequest, purpose: 'client' | 'server', subject: Uint8Array) => {
    const extensions = routerExtensions(library, purpose, { names: accepted.requestedNames(), spiffeId, signing })
    const issuer = signing.subjectDer
    const template = { issuer, subject, publicKey: accepted.publicKey, extensions, ...validityOf(now, 1) }
    return readCertificate(library, await issueCertificate(library, template, signer))
  }
  if (namesItself && client.subject.commonName !== routerId)
    return { issued: false, of: 'client', problem: 'wrong-name' }
  const names = namesItself ? client.subject : nameWithCommonName(library, routerId)
  try {
    const [clientLeaf, serverLeaf] = await Promise.all([
      issue(client, 'client', names.der),
      issue(server, 'server', server.subject.der),
    ])
    return {
      issued: true,
      client: await certificateFacts(library, clientLeaf),
      clientChainPem: pemOf(clientLeaf, ...intermediates),
      serverChainPem: pemOf(serverLeaf, ...intermediates),
    }
  } catch {
    // The requested names are malformed; no certificate was issued.
    return { issued: false, of: 'server', problem: 'unparsable' }
  }
}

/** The names and uses that differ from one client certificate to the next. */
interface ClientNames {
  readonly spiffeId: string
  /** True for an empty subject: the alternative name is then critical (RFC 5280 section 4.2.1.6). */
  readonly isNameless: boolean
}

/** 2.5.29.17 as an element. */
const SUBJECT_ALT_NAME = writeDer(DER_TAGS.objectIdentifier, Uint8Array.of(0x55, 0x1d, 0x11))
const TRUE = writeDer(DER_TAGS.boolean, Uint8Array.of(0xff))

/**
 * Prepares the extensions of identities' certificates, with a single alternative name. Identities prove their keys to servers and to each
 * other: in TLS over a circuit the host is the server. All extensions but the name are the same, and are encoded once. DER.
 */
export function clientExtensions({ x509 }: Library, signing: Certificate): (names: ClientNames) => Uint8Array[] {
  const { digitalSignature, keyEncipherment, dataEncipherment } = x509.KeyUsageFlags
  const { subjectKeyId } = signing.extensions
  const write = () =>
    [
      new x509.KeyUsagesExtension(digitalSignature | keyEncipherment | dataEncipherment, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
      ...(subjectKeyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(subjectKeyId)]),
    ].map(({ rawData }) => new Uint8Array(rawData))
  // Encoded with the first certificate: most processes, such as forks of a test, issue none.
  let same: readonly Uint8Array[] | undefined
  return ({ spiffeId, isNameless }) => {
    same ??= write()
    return [...same, altName(spiffeId, isNameless)]
  }
}

function altName(spiffeId: string, isCritical: boolean): Uint8Array {
  const { octetString, sequence, uri } = DER_TAGS
  const names = writeDer(sequence, writeDer(uri, new TextEncoder().encode(uriName(spiffeId).value)))
  return writeDer(sequence, SUBJECT_ALT_NAME, ...(isCritical ? [TRUE] : []), writeDer(octetString, names))
}

interface RouterNames {
  readonly names: x509.JsonGeneralNames
  readonly spiffeId: string
  readonly signing: Certificate
}

/** The extensions of a router's certificate, by which it proves its key to clients or to servers. */
function routerExtensions(
  { x509 }: Library,
  purpose: 'client' | 'server',
  { names, spiffeId, signing }: RouterNames,
): Uint8Array[] {
  const { digitalSignature, keyEncipherment, dataEncipherment } = x509.KeyUsageFlags
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage
  const { subjectKeyId } = signing.extensions
  return [
    new x509.KeyUsagesExtension(digitalSignature | keyEncipherment | dataEncipherment, true),
    new x509.ExtendedKeyUsageExtension([purpose === 'client' ? clientAuth : serverAuth]),
    ...(subjectKeyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(subjectKeyId)]),
    new x509.SubjectAlternativeNameExtension([...names, uriName(spiffeId)]),
  ].map(({ rawData }) => new Uint8Array(rawData))
}
