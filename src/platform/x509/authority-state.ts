import { bytesText } from '../../base/bytes.ts'
import type { AuthorityGeneration } from '../../ports/pki.ts'
import { type Library, readPart } from './asn1-structures.ts'
import { type Certificate, isRoot, isSelfIssued, readCertificates } from './certificate.ts'
import { isNetworkAuthority } from './chain.ts'
import { clientExtensions, type Issuer } from './issue.ts'
import type { SigningKey } from './signing-key.ts'

/** The current authorities of a network. */
export interface AuthorityState {
  readonly roots: readonly [Certificate, ...Certificate[]]
  /** The trust bundle of devices: roots, and authorities below them. */
  readonly bundle: readonly Certificate[]
  /** Authorities that lead to roots, for clients that do not send them. */
  readonly below: readonly Certificate[]
  /** Every current and former certificate of the network, by its octets as {@link bytesText}; former certificates have ended. */
  readonly known: ReadonlyMap<string, Certificate>
  readonly issuer: Issuer
  /** The ids of authorities, former ones too, by the identifiers of their keys. */
  readonly ids: ReadonlyMap<string, string>
  readonly extensionsFor: ReturnType<typeof clientExtensions>
}

/** The parsed certificates of a generation. */
interface ReadGeneration {
  readonly generation: AuthorityGeneration
  readonly bundled: readonly Certificate[]
  readonly chain: readonly [Certificate, ...Certificate[]]
}

/**
 * Reads the authorities of a network; `issuing` signs certificates. Throws an `Error` that names a part that is unreadable or leads to no
 * root.
 */
export async function readAuthorities(
  library: Library,
  generations: readonly AuthorityGeneration[],
  issuing: { readonly id: string; readonly signer: SigningKey },
  now?: number,
): Promise<AuthorityState> {
  const read: ReadGeneration[] = []
  for (const generation of generations) {
    const bundled = await readPart('caPem', () => readCertificates(library, generation.rootPem))
    const chain = await readPart('signingCertPem', () => readCertificates(library, generation.chainPem))
    read.push({ generation, bundled, chain })
  }
  const isOver = ({ goodUntil }: AuthorityGeneration) => now !== undefined && goodUntil !== null && goodUntil < now
  const known = knownCertificates(read)
  const knownOf = (certificate: Certificate) => known.get(bytesText(certificate.der)) ?? certificate
  const active = read.filter(({ generation }) => !isOver(generation))
  const roots: Certificate[] = []
  for (const { bundled } of active) for (const each of bundled.map(knownOf)) if (await isRoot(each)) roots.push(each)
  const [firstRoot, ...otherRoots] = [...new Set(roots)]
  if (firstRoot === undefined) throw new Error('caPem: no self-signed certificate authority found')
  const rootKeys = new Set([firstRoot, ...otherRoots].map(({ publicKey }) => publicKey.encoded))
  const bundle = new Set(active.flatMap(({ bundled, chain }) => [...bundled, ...chain].map(knownOf)))
  // A certificate for the key of a root, signed by another root, vouches for it. It leads to that other root and is not trusted by itself.
  for (const each of bundle) if (rootKeys.has(each.publicKey.encoded) && !isSelfIssued(each)) bundle.delete(each)
  const chain = read.find(({ generation }) => generation.id === issuing.id)?.chain
  if (chain === undefined) throw new Error('signingCertPem: the authority that signs is not known')
  const [signing] = chain
  const all = [...known.values()]
  if (!(await isNetworkAuthority(knownOf(signing), { roots: [firstRoot, ...otherRoots], intermediates: all }))) {
    throw new Error('signingCertPem: is not a certificate authority that leads to a root of caPem')
  }
  const intermediates = chain.filter((certificate) => !isSelfIssued(certificate))
  return {
    roots: [firstRoot, ...otherRoots],
    ids: new Map(read.map(({ generation, chain: [own] }) => [own.extensions.subjectKeyId ?? '', generation.id])),
    bundle: [...bundle],
    below: [...bundle].filter((each) => each !== firstRoot && !otherRoots.includes(each)),
    known,
    issuer: { signing, intermediates, signer: issuing.signer },
    extensionsFor: clientExtensions(library, signing),
  }
}

/** A certificate of several generations ends with the last of them, and never if one has no end. */
function knownCertificates(read: readonly ReadGeneration[]): ReadonlyMap<string, Certificate> {
  const known = new Map<string, Certificate>()
  const ends = new Map<string, number | null>()
  for (const { generation, bundled, chain } of read) {
    for (const certificate of [...bundled, ...chain]) {
      const octets = bytesText(certificate.der)
      const { goodUntil } = generation
      const before = ends.get(octets)
      ends.set(octets, before === undefined || goodUntil === null ? goodUntil : before && Math.max(before, goodUntil))
      if (!known.has(octets)) known.set(octets, certificate)
    }
  }
  for (const [octets, certificate] of known) {
    const end = ends.get(octets) ?? null
    if (end !== null) known.set(octets, { ...certificate, notAfter: end })
  }
  return known
}
