import type { GenerationTimes } from './generations.rules.ts'

/** An authority of the network: the instants of its certificates' validity, and the identifier of its key. */
export interface AuthorityFacts extends GenerationTimes {
  readonly keyId: string
}

/** A certificate that the network issued. */
export interface IssuedCertificate {
  /** The identifier of the signing authority's key. */
  readonly authorityKeyId: string
  /** Its own expiry, epoch ms; undefined if unknown. */
  readonly notAfter: number | undefined
  /** True while its holder has been asked to renew it and has not done so. */
  readonly isAsked: boolean
}

/** The state of a holder of certificates. */
export interface Standing {
  /** True when it lacks a certificate of the latest authority, or the bundle of an announced authority. */
  readonly isOutstanding: boolean
  /** The instant until which its last certificate is accepted, epoch ms; `Infinity` without an end. */
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

/** An unknown authority ended so long ago that it was dropped. */
function goodUntil({ authorityKeyId }: IssuedCertificate, authorities: readonly AuthorityFacts[]): number {
  if (authorities.length === 0) return Infinity
  const authority = authorities.find(({ keyId }) => keyId === authorityKeyId)
  return authority === undefined ? 0 : (authority.goodUntil ?? Infinity)
}

/** The reasons why a holder has no certificate of the latest authority yet. */
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

/** The facts of an identity without a certificate of the latest authority; instants are epoch ms. */
export interface OutstandingIdentity {
  readonly askedAt: number | null
  /** The last use of a session by its certificate; null without a session. */
  readonly seenAt: number | null
  /** The reported type of its SDK; empty without a report. */
  readonly program: string
}

/** Programs of the Go SDK, which never renew a certificate, whatever their session says. */
const GO_PROGRAM = /golang/i

/** The reason why an identity has no certificate of the latest authority. */
export function identityReason({ askedAt, seenAt, program }: OutstandingIdentity): OutstandingReason {
  if (askedAt === null) return 'not-asked'
  if (GO_PROGRAM.test(program)) return 'cannot-renew'
  return seenAt !== null && seenAt > askedAt ? 'asked' : 'not-seen'
}

/** The reason why a router has no certificate of the latest authority: it is disconnected, has been asked, or cannot be asked to renew. */
export function routerReason(connected: { readonly renewsWhenAsked: boolean } | undefined): OutstandingReason {
  if (connected === undefined) return 'not-connected'
  return connected.renewsWhenAsked ? 'asked' : 'cannot-be-asked'
}

/** The remedy for such a holder: a sentence that names the command. */
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
