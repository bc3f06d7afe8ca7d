import { type Certificate, isSelfIssued } from './certificate.ts'
import { commonNameOf, emailAddressesOf, type GeneralName } from './distinguished-names.ts'
import { permitsNames } from './name-constraints.ts'

export interface ChainOptions {
  /** Self-signed authorities that the network's configuration trusts. */
  readonly roots: readonly Certificate[]
  /** Untrusted certificates that may stand between the leaf and a root. */
  readonly intermediates: readonly Certificate[]
  /** The instant at which every authority must be valid, in epoch ms; without it validity is not judged. */
  readonly now?: number
}

/** The longest path, leaf and root included, and the issuers that are tried before the search ends. */
const MAX_PATH = 8
const MAX_ATTEMPTS = 60

/**
 * Reports whether a path leads from the client certificate `leaf` to a root (RFC 5280 section 6). Each issuer signed the certificate before
 * it, may sign certificates for clients at that depth, is valid at `now`, and permits the names below. The leaf must be usable for client
 * authentication; its own validity is not judged.
 */
export async function leadsToRoot(leaf: Certificate, options: ChainOptions): Promise<boolean> {
  return isUsableByClient(leaf) && (await hasPathToRoot(leaf, options))
}

/** Reports whether `authority` signed `certificate`, whatever the purpose of the certificate. */
export function isIssuedBy(certificate: Certificate, authority: Certificate, now: number): Promise<boolean> {
  return hasPathToRoot(certificate, { roots: [authority], intermediates: [], now })
}

/** Reports whether `authority` is a certificate authority among the roots or below a root. */
export async function isNetworkAuthority(authority: Certificate, options: ChainOptions): Promise<boolean> {
  return (
    authority.extensions.isAuthority &&
    (options.roots.some(({ pem }) => pem === authority.pem) || (await hasPathToRoot(authority, options)))
  )
}

/**
 * Reports whether an authority shares a key with one of `others`, signed it, or was signed by it. Other contents do not matter: an
 * authority may have several certificates.
 */
export async function isRelated(authority: Certificate, others: readonly Certificate[]): Promise<boolean> {
  for (const other of others) {
    if (other.publicKey.encoded === authority.publicKey.encoded) return true
    if (await other.isSignedWith(authority.publicKey)) return true
    if (await authority.isSignedWith(other.publicKey)) return true
  }
  return false
}

function hasPathToRoot(start: Certificate, { roots, intermediates, now }: ChainOptions): Promise<boolean> {
  const candidates = [...roots, ...intermediates]
  let attempts = 0

  const climb = async (path: readonly Certificate[], last: Certificate): Promise<boolean> => {
    if (path.length > 1 && roots.includes(last)) return permitsEveryName(path)
    if (path.length === MAX_PATH) return false
    for (const issuer of candidates) {
      if (isOnPath(issuer, path) || !isNamedIssuer(last, issuer) || !mayIssue(issuer, path, now)) continue
      attempts += 1
      if (attempts > MAX_ATTEMPTS) return false
      if ((await last.isSignedWith(issuer.publicKey)) && (await climb([...path, issuer], issuer))) return true
    }
    return false
  }
  return climb([start], start)
}

function isOnPath(issuer: Certificate, path: readonly Certificate[]): boolean {
  return path.some(
    ({ encodedSubject, publicKey }) =>
      encodedSubject === issuer.encodedSubject && publicKey.encoded === issuer.publicKey.encoded,
  )
}

/** Reports whether the names and key identifiers in `certificate` point at `issuer`. */
function isNamedIssuer({ encodedIssuer, extensions: { authority } }: Certificate, issuer: Certificate): boolean {
  const { subjectKeyId } = issuer.extensions
  if (encodedIssuer !== issuer.encodedSubject) return false
  if (authority.keyId !== undefined && subjectKeyId !== undefined && authority.keyId !== subjectKeyId) return false
  if (authority.serial !== undefined && authority.serial !== issuer.serial) return false
  return authority.issuers?.includes(issuer.encodedIssuer) ?? true
}

/** Reports whether `issuer` is an authority that may stand above `path` at `now`. */
function mayIssue({ extensions, notBefore, notAfter }: Certificate, path: readonly Certificate[], now?: number) {
  const between = path.slice(1).filter((certificate) => !isSelfIssued(certificate)).length
  return (
    extensions.isAuthority &&
    between <= extensions.pathLength &&
    extensions.maySignCertificates &&
    extensions.allowsClients &&
    !extensions.hasUnknownCritical &&
    (now === undefined || (notBefore <= now && now <= notAfter))
  )
}

function isUsableByClient({ extensions: { mayProveKey, allowsClients, hasUnknownCritical } }: Certificate): boolean {
  return mayProveKey && allowsClients && !hasUnknownCritical
}

/** Checks name constraints. They bind all certificates below their authority, except self-issued certificates in between. */
function permitsEveryName(path: readonly Certificate[]): boolean {
  return path.every(({ extensions: { nameConstraints } }, depth) => {
    if (nameConstraints === undefined || depth === 0) return true
    const below = path.slice(0, depth).filter((certificate, at) => at === 0 || !isSelfIssued(certificate))
    return below.every((certificate) =>
      permitsNames(nameConstraints, constrainedNames(certificate, certificate === path[0])),
    )
  })
}

/**
 * The names that constraints apply to. Many programs read a common name with a dot as a host, so it counts as a host in a leaf without DNS
 * names.
 */
function constrainedNames({ subject, extensions: { altNames } }: Certificate, isLeaf: boolean): GeneralName[] {
  const names: GeneralName[] = [...altNames]
  if (subject.length > 0) names.push({ kind: 'directory', value: subject })
  for (const value of emailAddressesOf(subject)) names.push({ kind: 'email', value })
  const host = commonNameOf(subject)
  const readsAsHost = /^[\w-]+(\.[\w-]+)+$/.test(host) && altNames.every(({ kind }) => kind !== 'dns')
  if (isLeaf && readsAsHost) names.push({ kind: 'dns', value: host })
  return names
}
