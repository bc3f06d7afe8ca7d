import { BoundedMap } from '../../base/collections.ts'
import type { CertificateFacts, CertificateProblem, ThirdParty, ThirdPartyVerdict } from '../../ports/pki.ts'
import type { Library } from './asn1-structures.ts'
import { type Certificate, certificateFacts, fingerprintOf, readRemembered } from './certificate.ts'
import { isIssuedBy, leadsToRoot } from './chain.ts'
import { readPemBlocks } from './pem.ts'

/** Authorities that are kept parsed, by their PEM text; an unusable authority is `undefined`. */
const MAX_KNOWN = 500

/**
 * Judges certificates by authorities outside of the network. Each authority is parsed once. An authority of this network, according to
 * `isOwn`, does not count.
 */
export function createThirdPartyVerifier(library: Library, isOwn: (authority: Certificate) => Promise<boolean>) {
  const known = new BoundedMap<string, Promise<Certificate | undefined>>(MAX_KNOWN)

  const readAuthority = async (certPem: string): Promise<Certificate | undefined> => {
    const [authority] = readBlocks(library, certPem) ?? []
    return authority === undefined || (await isOwn(authority)) ? undefined : authority
  }

  const authorityOf = ({ certPem }: ThirdParty): Promise<Certificate | undefined> => {
    const authority = known.get(certPem) ?? readAuthority(certPem)
    known.set(certPem, authority)
    return authority
  }

  const findAuthority = async (
    leaf: Certificate | undefined,
    intermediates: readonly Certificate[],
    authorities: readonly ThirdParty[],
    now: number,
  ): Promise<ThirdPartyVerdict> => {
    if (leaf === undefined) return { trusted: false }
    for (const authority of authorities) {
      const root = await authorityOf(authority)
      if (root !== undefined && (await leadsToRoot(leaf, { roots: [root], intermediates, now }))) {
        return { trusted: true, leaf: await certificateFacts(library, leaf), authorityId: authority.id }
      }
    }
    return { trusted: false }
  }

  const isIssuer = async (certificate: Certificate | undefined, authority: ThirdParty, now: number) => {
    const issuer = await authorityOf(authority)
    return certificate !== undefined && issuer !== undefined && isIssuedBy(certificate, issuer, now)
  }

  return { findAuthority, isIssuer }
}

/** Facts of the certificates of a PEM text, or the problem with the text. */
export async function readCertificateFacts(
  library: Library,
  pem: string,
): Promise<readonly CertificateFacts[] | CertificateProblem> {
  const blocks = pemBlocks(pem)
  if (blocks.length === 0) return 'no-pem'
  if (blocks.some(({ label }) => label !== 'CERTIFICATE')) return 'not-a-certificate'
  const certificates = readBlocks(library, pem)
  if (certificates === undefined) return 'malformed'
  return Promise.all(certificates.map((certificate) => certificateFacts(library, certificate)))
}

function pemBlocks(pem: string) {
  try {
    return readPemBlocks(pem)
  } catch {
    return []
  }
}

function readBlocks(library: Library, pem: string): readonly Certificate[] | undefined {
  try {
    return readPemBlocks(pem).map(({ der }) => readRemembered(library, der))
  } catch {
    return undefined
  }
}

/**
 * The trust domain that the network's own certificates name in a `spiffe://` URI; the first one found counts. Without such a URI it is the
 * SHA-1 fingerprint of the root.
 */
export async function findTrustDomain(
  library: Library,
  own: readonly Certificate[],
  root: Certificate,
): Promise<string> {
  for (const name of own.flatMap(({ extensions }) => extensions.altNames)) {
    const trustDomain = name.kind === 'uri' ? /^spiffe:\/\/([^/?#]+)/i.exec(name.value)?.[1] : undefined
    if (trustDomain !== undefined) return trustDomain.toLowerCase()
  }
  return fingerprintOf(library, root)
}
