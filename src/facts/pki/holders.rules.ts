import type { GenerationTimes } from './generations.rules.ts'

/** An authority of the network: when its certificates are good, and the identifier of its key. */
export interface AuthorityFacts extends GenerationTimes {
  readonly keyId: string
}

/** A certificate that the network issued. */
export interface IssuedCertificate {
  /** Identifies the key of the authority that signed it. */
  readonly authorityKeyId: string
  /** When it ends by itself, epoch ms; undefined where that is unknown. */
  readonly notAfter: number | undefined
  /** Whether its holder is asked to renew it, and has not done so yet. */
  readonly isAsked: boolean
}

/** How a holder of certificates stands. */
export interface Standing {
  /** Whether it lacks what the latest authority asks for: a certificate, or the bundle where the authority is only announced. */
  readonly isOutstanding: boolean
  /** Until when the last of its certificates lets it in, epoch ms; `Infinity` where nothing ends it. */
  readonly endsAt: number
}

/** Judges the certificates of one holder by the authorities of the network, the earliest first. */
export function standingOf(
  certificates: readonly IssuedCertificate[],
  authorities: readonly AuthorityFacts[],
): Standing {
  const latest = authorities.at(-1)
  const isBehind = ({ authorityKeyId, isAsked }: IssuedCertificate) =>
    latest !== undefined && (latest.issuesFrom === null ? isAsked : authorityKeyId !== latest.keyId)
  const ends = certificates.map((each) => Math.min(each.notAfter ?? Infinity, goodUntil(each, authorities)))
  return { isOutstanding: certificates.every(isBehind), endsAt: Math.max(...ends) }
}

/** An authority that is not among those of the network was over so long ago that it was forgotten. */
function goodUntil({ authorityKeyId }: IssuedCertificate, authorities: readonly AuthorityFacts[]): number {
  if (authorities.length === 0) return Infinity
  const authority = authorities.find(({ keyId }) => keyId === authorityKeyId)
  return authority === undefined ? 0 : (authority.goodUntil ?? Infinity)
}

/** Why a holder has no certificate of the latest authority yet. */
export const OUTSTANDING_REASONS = [
  'locked-out',
  'not-asked',
  'not-seen',
  'asked',
  'cannot-renew',
  'not-connected',
  'cannot-be-asked',
] as const
export type OutstandingReason = (typeof OUTSTANDING_REASONS)[number]

/** The facts of an identity that is outstanding; instants are epoch ms. */
export interface OutstandingIdentity {
  readonly askedAt: number | null
  /** When a session by its certificate was used last; null where there is none. */
  readonly seenAt: number | null
  /** The type of its SDK, as it reported it; empty where it did not. */
  readonly program: string
}

/** Programs of the Go SDK: none of them renews a certificate, whatever its session says. */
const GO_PROGRAM = /golang/i

/** Why an identity is outstanding. */
export function identityReason({ askedAt, seenAt, program }: OutstandingIdentity): OutstandingReason {
  if (askedAt === null) return 'not-asked'
  if (GO_PROGRAM.test(program)) return 'cannot-renew'
  return seenAt !== null && seenAt > askedAt ? 'asked' : 'not-seen'
}

/** Why a router is outstanding: it is away, takes a request to renew, or takes none. */
export function routerReason(connected: { readonly renewsWhenAsked: boolean } | undefined): OutstandingReason {
  if (connected === undefined) return 'not-connected'
  return connected.renewsWhenAsked ? 'asked' : 'cannot-be-asked'
}

/** The help for a holder that is outstanding: a sentence that names the command. */
export function renewalHelp(
  { type, name }: { readonly type: 'edge-routers' | 'transit-routers' | 'identities'; readonly name: string },
  reason: OutstandingReason,
): string {
  const again =
    type === 'transit-routers'
      ? 'delete it and make it anew'
      : `portcullis invite ${shellWord(name)}${type === 'edge-routers' ? ' --router' : ''} --again, and enroll it by that token`
  switch (reason) {
    case 'locked-out':
      return `${again}; or let the authority before be good again: portcullis pki change ID --keep`
    case 'not-asked':
      return 'it is asked as soon as the authority signs'
    case 'not-seen':
      return `it renews when it logs in, if its program can; else ${again}`
    case 'asked':
      return type === 'identities'
        ? `it renews when it looks after its session, within half an hour, if it is portcullis/sdk with keep or a file that it may write; else ${again}`
        : 'it renews within moments'
    case 'cannot-renew':
      return `its program never renews: ${again}, or give the authority before more time: portcullis pki change ID --keep`
    case 'not-connected':
      return `it is asked when it connects, if it is one of this package; else ziti router run --extend, or ${again}`
    case 'cannot-be-asked':
      return `a deployed router renews a week before its own end, or when it is started with ziti router run --extend; else ${again}`
  }
}

/** A name as a word of a command line. */
function shellWord(name: string): string {
  return /^[\w.@:-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}
