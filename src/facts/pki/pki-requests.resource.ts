import { z } from 'zod'
import { Instant } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { OUTSTANDING_REASONS } from './holders.rules.ts'

const Time = z.iso.datetime()

/** The shown form of an authority's certificate. */
const Shown = described(z.object({ subject: z.string(), expiresAt: Time.nullable() }), {
  subject: 'Its name.',
  expiresAt: 'When it says itself that it ends, RFC 3339; null when it cannot be read.',
})

const Count = described(z.object({ renewed: z.int(), outstanding: z.int() }), {
  renewed: 'How many have a certificate of the latest authority.',
  outstanding: 'How many have not.',
})

const Due = described(z.object({ identities: z.int(), routers: z.int(), names: z.array(z.string()) }), {
  identities: 'How many identities. An identity with several certificates counts once, by the best of them.',
  routers: 'How many routers.',
  names: 'The names of the first ten, routers before identities.',
})

/** The keys of a network, and the progress of their change. */
export const PkiStatusData = described(
  z.object({
    authorities: z.array(
      described(
        z.object({
          id: z.string(),
          state: z.enum(['next', 'issuing', 'former', 'ended']),
          signing: Shown,
          root: described(z.object({ id: z.string(), subject: z.string(), expiresAt: Time.nullable() }), {
            id: 'SHA-1 of the certificate, in hexadecimal.',
            subject: 'Its name.',
            expiresAt: 'When it says itself that it ends, RFC 3339; null when it cannot be read.',
          }),
          isVouchedFor: z.boolean(),
          issuesFrom: Time.nullable(),
          goodUntil: Time.nullable(),
          askedAt: Time.nullable(),
        }),
        {
          id: 'SHA-1 of the certificate of the signing authority, in hexadecimal.',
          state:
            '`next`: it will sign; `issuing`: it signs; `former`: its certificates are still good; `ended`: they are not.',
          signing: 'The signing authority.',
          root: 'The root above it.',
          isVouchedFor:
            'Whether who trusts the root before trusts this one too. Where not, devices have to learn the root before it signs.',
          issuesFrom: 'From when it signs, RFC 3339; null while it is only announced.',
          goodUntil: 'Until when its certificates are good, RFC 3339; null for as long as they say themselves.',
          askedAt: 'When every device had been asked to renew its certificate, RFC 3339; null until then.',
        },
      ),
    ),
    server: described(
      z.object({
        id: z.string(),
        hosts: z.array(z.string()),
        expiresAt: Time,
        outstandingEnrollments: z.int(),
      }),
      {
        id: 'SHA-1 of the server certificate of the process that answers, in hexadecimal.',
        hosts: 'The names and addresses that it is for.',
        expiresAt: 'When it ends, RFC 3339.',
        outstandingEnrollments:
          'How many enrollments are outstanding. Devices hold tokens of them by the key of the server: with another key they are void.',
      },
    ),
    progress: described(z.object({ identities: Count, routers: Count }), {
      identities: 'Certificates of identities that the network issued.',
      routers: 'Routers that enrolled.',
    }).nullable(),
    due: described(z.object({ outstanding: Due, ending: Due, ended: Due }), {
      outstanding: 'Holders without a certificate of the latest authority.',
      ending:
        'Holders who are let in, and will not be within 30 days: their certificate ends, or the authority that signed it does.',
      ended: 'Holders who are let in no more: their certificate has ended, or the authority that signed it has.',
    }),
    bundle: z.string(),
    hasRootKey: z.boolean(),
    canKeepKeys: z.boolean(),
  }),
  {
    authorities: 'The authorities, the earliest first.',
    server: 'The certificate of the server.',
    progress: 'The holders of certificates of the latest authority; null while there was no change.',
    due: 'The identities and routers whose certificates somebody has to look at.',
    bundle: 'The trust bundle, PEM.',
    hasRootKey:
      'Whether the key of a root is at hand, to sign the next signing authority and to vouch for the next root.',
    canKeepKeys: 'Whether keys that are made can be kept.',
  },
)
export type PkiStatus = z.output<typeof PkiStatusData>

const LOCKS_OUT =
  'Whether identities and routers may be locked out that have no other certificate; without it such a change is refused with their number and names. False by default.'

/** POST /pki/rotations. */
export const RotationRequestBody = described(
  z.object({
    what: z.enum(['server', 'signing', 'root']),
    keepUntil: Instant.optional(),
    voidsEnrollments: z.boolean().default(false),
    locksOut: z.boolean().default(false),
  }),
  {
    what: '`server`: the key and certificate of the server; `signing`: the authority that signs; `root`: the root, and an authority that signs below it.',
    keepUntil:
      'Until when certificates of the authorities before are good, RFC 3339, also beyond what these say themselves. By default 400 days, and not beyond that.',
    voidsEnrollments: 'For `server`: whether the tokens of outstanding enrollments may become void; false by default.',
    locksOut: LOCKS_OUT,
  },
)
export type RotationRequest = z.input<typeof RotationRequestBody>

/** PATCH /pki/authorities/{id}: absent members stay. */
export const AuthorityChangeRequest = described(
  z.object({ goodUntil: Instant.optional(), issues: z.boolean().optional(), locksOut: z.boolean().default(false) }),
  {
    goodUntil: 'Until when its certificates are good, RFC 3339; in the past to end them now.',
    issues: 'True to let an announced authority sign. An authority that signed before does not sign again.',
    locksOut: LOCKS_OUT,
  },
)
export type AuthorityChange = z.input<typeof AuthorityChangeRequest>

/** The holder of a certificate of a former authority. */
export const RenewalHolderData = described(
  z.object({
    type: z.enum(['edge-routers', 'transit-routers', 'identities']),
    id: z.string(),
    name: z.string(),
    askedAt: Time.nullable(),
    endsAt: Time.nullable(),
    program: z.string(),
    reason: z.enum(OUTSTANDING_REASONS),
    help: z.string(),
  }),
  {
    type: 'The kind of holder.',
    id: 'The id of the holder.',
    name: 'Its name.',
    askedAt: 'When it was asked to renew its certificate, RFC 3339; null when it was not, and for routers.',
    endsAt: 'Until when its certificate lets it in, RFC 3339; null where nothing ends it.',
    program: 'Its software and the version, as it reported them; empty where it did not.',
    reason:
      '`locked-out`: its certificate has ended; `not-asked`: it is asked as soon as the authority signs; `not-seen`: it has not been seen since it was asked; `asked`: it was asked, is in use, and has not renewed; `cannot-renew`: its program never renews; `not-connected`: a router that is away; `cannot-be-asked`: a router that takes no such request.',
    help: 'The remedy, in words.',
  },
)
export type RenewalHolder = z.output<typeof RenewalHolderData>
