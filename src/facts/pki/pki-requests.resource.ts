import { z } from 'zod'
import { Instant } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

const Time = z.iso.datetime()

/** A certificate of an authority as it is shown. */
const Shown = described(z.object({ subject: z.string(), expiresAt: Time.nullable() }), {
  subject: 'Its name.',
  expiresAt: 'When it says itself that it ends, RFC 3339; null when it cannot be read.',
})

const Count = described(z.object({ renewed: z.int(), outstanding: z.int() }), {
  renewed: 'How many have a certificate of the latest authority.',
  outstanding: 'How many have not.',
})

/** The keys of a network, and how far a change of them is. */
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
    bundle: z.string(),
    hasRootKey: z.boolean(),
    canKeepKeys: z.boolean(),
  }),
  {
    authorities: 'The authorities, the earliest first.',
    server: 'The certificate of the server.',
    progress: 'Who has certificates of the latest authority; null while there was no change.',
    bundle: 'The trust bundle, PEM.',
    hasRootKey:
      'Whether the key of a root is at hand, to sign the next signing authority and to vouch for the next root.',
    canKeepKeys: 'Whether keys that are made can be kept.',
  },
)
export type PkiStatus = z.output<typeof PkiStatusData>

/** POST /pki/rotations. */
export const RotationRequestBody = described(
  z.object({
    what: z.enum(['server', 'signing', 'root']),
    keepUntil: Instant.optional(),
    voidsEnrollments: z.boolean().default(false),
  }),
  {
    what: '`server`: the key and certificate of the server; `signing`: the authority that signs; `root`: the root, and an authority that signs below it.',
    keepUntil:
      'Until when certificates of the authorities before are good, RFC 3339, also beyond what these say themselves. By default 400 days, and not beyond that.',
    voidsEnrollments: 'For `server`: whether the tokens of outstanding enrollments may become void; false by default.',
  },
)
export type RotationRequest = z.input<typeof RotationRequestBody>

/** PATCH /pki/authorities/{id}: what is absent stays. */
export const AuthorityChangeRequest = described(
  z.object({ goodUntil: Instant.optional(), issues: z.boolean().optional() }),
  {
    goodUntil: 'Until when its certificates are good, RFC 3339; in the past to end them now.',
    issues: 'True to let an authority sign that was announced.',
  },
)
export type AuthorityChange = z.input<typeof AuthorityChangeRequest>

/** The holder of a certificate of an authority before. */
export const RenewalHolderData = described(
  z.object({
    type: z.enum(['edge-routers', 'transit-routers', 'identities']),
    id: z.string(),
    name: z.string(),
    askedAt: Time.nullable(),
  }),
  {
    type: 'What the holder is.',
    id: 'The id of the holder.',
    name: 'Its name.',
    askedAt: 'When it was asked to renew its certificate, RFC 3339; null when it was not. Routers are not asked.',
  },
)
export type RenewalHolder = z.output<typeof RenewalHolderData>
