import { grouped } from '../base/collections.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { endOfCertificate } from '../facts/pki/certificate-end.rules.ts'
import { type AuthorityFacts, type IssuedCertificate, type Standing, standingOf } from '../facts/pki/holders.rules.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { isIn } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { Turns } from '../ports/runtime.ts'

/** Identities whose certificates are read at once. */
const IDENTITIES_PER_READ = 200

/** The authorities by which holders are judged. */
export interface Judging {
  /** The earliest first. */
  readonly authorities: readonly AuthorityFacts[]
  /** The key of the authority that the host gave: it signed every certificate without a recorded signer. */
  readonly configuredKeyId: string
}

/** A router and the standing of its certificate. */
export interface JudgedRouter extends Standing {
  readonly type: 'edge-routers' | 'transit-routers'
  readonly id: string
  readonly name: string
}

/** An identity and the standing of its certificate. */
export interface JudgedIdentity extends Standing {
  /** When it was asked to renew, epoch ms; null when it was not. */
  readonly askedAt: number | null
}

/** The holders of certificates of a network: their number, and the holders that need attention. */
export interface Holders {
  readonly totals: { readonly identities: number; readonly routers: number }
  /** The identities by id that are outstanding, or whose certificates end by `endingBefore`. */
  readonly identities: ReadonlyMap<string, JudgedIdentity>
  /** Routers that enrolled, of the same kind. */
  readonly routers: readonly JudgedRouter[]
}

/**
 * Looks at the certificate of every identity and every router, in slices of a few milliseconds. The answer grows with
 * the number of due holders alone.
 */
export async function examineHolders(
  tx: ReadTransaction,
  judging: Judging,
  endingBefore: number,
  turns: Turns,
): Promise<Holders> {
  const turn = turns.begin()
  const isDue = ({ isOutstanding, endsAt }: Standing) => isOutstanding || endsAt <= endingBefore
  const routers: JudgedRouter[] = []
  let routerTotal = 0
  for (const [kind, type] of [
    [edgeRouters, 'edge-routers'],
    [transitRouters, 'transit-routers'],
  ] as const) {
    const fields = ['name', 'isVerified', 'certPem', 'authorityKeyId'] as const
    for await (const { items } of tx.collection<RouterRecord>(kind).scan(fields)) {
      for (const { id, name, isVerified, certPem, authorityKeyId } of items) {
        if (!isVerified) continue
        await turn()
        routerTotal += 1
        // A router does not know an authority that is only announced unless an operator brings it the bundle.
        const held = issuedCertificate({ certPem, authorityKeyId, isExtendRequested: true }, judging)
        const standing = standingOf([held], judging.authorities)
        if (isDue(standing)) routers.push({ type, id, name, ...standing })
      }
    }
  }
  const due = new Set<string>()
  let total = 0
  const fields = [...CERTIFICATE_FIELDS, 'identityId', 'method', 'isIssuedByNetwork'] as const
  for await (const { items } of tx.collection(authenticators).scan(fields)) {
    for (const each of items) {
      if (each.method !== 'cert' || !each.isIssuedByNetwork) continue
      total += 1
      await turn()
      if (isDue(standingOf([issuedCertificate(each, judging)], judging.authorities))) due.add(each.identityId)
    }
  }
  // An identity may hold several certificates: the best one counts, and it is one holder.
  const identities = new Map<string, JudgedIdentity>()
  const wanted = [...due]
  for (let begin = 0; begin < wanted.length; begin += IDENTITIES_PER_READ) {
    const where = isIn('identityId', wanted.slice(begin, begin + IDENTITIES_PER_READ))
    const { items } = await tx.collection(authenticators).find({ where })
    const issued = items.filter(({ method, isIssuedByNetwork }) => method === 'cert' && isIssuedByNetwork)
    for (const [identityId, held] of grouped(issued, ({ identityId }) => identityId)) {
      total -= held.length - 1
      await turn()
      const certificates = held.map((each) => issuedCertificate(each, judging))
      const standing = standingOf(certificates, judging.authorities)
      const asked = held.flatMap((each) => (each.isExtendRequested ? (each.extendRequestedAt ?? []) : []))
      const askedAt = asked.length === 0 ? null : Math.max(...asked)
      if (isDue(standing)) identities.set(identityId, { ...standing, askedAt })
    }
  }
  return { totals: { identities: total, routers: routerTotal }, identities, routers }
}

const CERTIFICATE_FIELDS = ['certPem', 'authorityKeyId', 'isExtendRequested'] as const

interface CertificateRecord {
  readonly certPem: string | null
  readonly authorityKeyId: string | null
  readonly isExtendRequested: boolean
}

interface RouterRecord extends Omit<CertificateRecord, 'isExtendRequested'> {
  readonly id: string
  readonly name: string
  readonly isVerified: boolean
}

function issuedCertificate(
  { certPem, authorityKeyId, isExtendRequested }: CertificateRecord,
  { configuredKeyId }: Judging,
): IssuedCertificate {
  const notAfter = certPem === null ? undefined : endOfCertificate(certPem)
  return { authorityKeyId: authorityKeyId ?? configuredKeyId, notAfter, isAsked: isExtendRequested }
}
