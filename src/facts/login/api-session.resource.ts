import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant, narrowed, Pem } from '../../kernel/declaration/fields.ts'
import { always, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { LoginBasis, SignerProof } from '../credentials/login-basis.rules.ts'
import type { LiveToken } from '../oidc/refresh-tokens.rules.ts'

/** A proof that is still missing: a one-time password of the authenticator app, by its API or by tokens. */
export interface TotpQuery {
  readonly typeId: 'MFA' | 'TOTP'
  readonly provider: 'ziti'
  readonly format: 'numeric' | 'alpha' | 'alphaNumeric'
  readonly httpMethod: string
  readonly httpUrl: string
  readonly isTotpEnrolled: boolean
  readonly minLength: number
  readonly maxLength: number
  readonly scopes: null
}

/** A proof that is still missing: a token of an external JWT signer. */
export interface TokenQuery {
  readonly typeId: 'EXT-JWT'
  readonly provider: 'url'
  readonly id: string
  readonly scopes: string[]
  readonly clientId?: string
  readonly httpUrl?: string
}

/** A missing proof that a client must give to complete its authentication. */
export type AuthQuery = TotpQuery | TokenQuery
const AuthQuery = described(
  z.object({
    clientId: z.string().optional(),
    format: z.enum(['numeric', 'alpha', 'alphaNumeric']).optional(),
    httpMethod: z.string().optional(),
    httpUrl: z.string().optional(),
    id: z.string().optional(),
    isTotpEnrolled: z.boolean().optional(),
    maxLength: z.int().optional(),
    minLength: z.int().optional(),
    provider: z.enum(['ziti', 'url']),
    scopes: z.array(z.string()).nullable().optional(),
    typeId: z.enum(['MFA', 'TOTP', 'EXT-JWT']),
  }),
  {
    clientId: 'The client id to use at the issuer of tokens; for `EXT-JWT`.',
    format: 'The characters that a code consists of; for `MFA`.',
    httpMethod: 'The HTTP method to send the proof by; for `MFA`.',
    httpUrl: 'Where to send the code, below the base path of the API, or where to log in at the issuer of tokens.',
    id: 'The id of the external JWT signer whose token is needed; for `EXT-JWT`.',
    isTotpEnrolled: 'Whether the identity has an MFA enrollment; without one it must enroll first.',
    maxLength: 'The most characters that a code has; for `MFA`.',
    minLength: 'The fewest characters that a code has; for `MFA`.',
    provider: 'The party that takes the proof: the controller (`ziti`) or an issuer of tokens (`url`).',
    scopes: 'The scopes to ask the issuer of tokens for; null for `MFA`.',
    typeId: 'The proof that is missing: a second factor by one-time password, or a token of an external signer.',
  },
  'A proof that is still missing.',
)

const DEFINITION = {
  name: 'api-sessions',
  singular: 'api session',
  storeName: 'apiSessions',
  permission: 'ops',
  writable: {},
  system: {
    identityId: Id,
    authenticatorId: z.string(),
    /** The certificate authority or external signer that vouched for the identity; null without a third party. */
    trustAnchorId: Id.nullable(),
    /** The credentials behind the session; null for a session from before they were stored. */
    basis: z.custom<LoginBasis>().nullable(),
    /** The digest of the `zt-session` token; null for a session of tokens, which name it themselves. */
    tokenDigest: z.string().nullable(),
    sealedToken: z.string().nullable(),
    ipAddress: z.string(),
    configTypes: z.array(z.string()),
    isMfaRequired: z.boolean(),
    isMfaComplete: z.boolean(),
    isCertExtendable: z.boolean(),
    improperClientCertChain: z.boolean(),
    lastActivityAt: Instant,
    /** The stored instant at which the session may expire, and is judged again. */
    dueAt: Instant,
    method: z.enum(['password', 'cert', 'ext-jwt']),
    /** The expiry of the session's last token; null for a session of `zt-session`. */
    tokensExpireAt: Instant.nullable(),
    /** The refresh tokens of the session that may still be presented, in the order of their use. */
    refreshTokens: z.array(z.custom<LiveToken>()).nullable(),
    /** The store's revision at the start of the session; null for a session from before it was stored. */
    startRevision: z.int().nullable(),
    /** The external signer's token that the login or a later request presented as second factor; null without one. */
    signerProof: z.custom<SignerProof>().nullable(),
  },
  derived: {
    authQueries: z.array(narrowed<AuthQuery>()(AuthQuery)),
    cachedLastActivityAt: z.iso.datetime(),
    isCertExtendRequested: z.boolean().optional(),
    isCertKeyRollRequested: z.boolean().optional(),
    token: z.string(),
  },
  hidden: [
    'trustAnchorId',
    'basis',
    'dueAt',
    'tokenDigest',
    'sealedToken',
    'method',
    'tokensExpireAt',
    'refreshTokens',
    'startRevision',
    'signerProof',
  ],
  required: [],
  mostPerOwner: { owner: 'identityId', limit: 'apiSessionsPerIdentity', endsEarliest: 'lastActivityAt' },
  unique: ['tokenDigest'],
  indexed: ['identityId', 'authenticatorId', 'trustAnchorId', 'dueAt'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    authenticatorId: { to: 'authenticators', isLoose: true, onDelete: 'cascade' },
  },
  links: ['sessions'],
  symbols: {
    identity: 'identityId',
    authenticator: 'authenticatorId',
    mfaComplete: 'isMfaComplete',
    mfaRequired: 'isMfaRequired',
    sealedToken: null,
    trustAnchorId: null,
    basis: null,
    dueAt: null,
    startRevision: null,
    signerProof: null,
  },
  // Only a digest of the token is stored, so lists show no token.
  computed: { token: always('string', '') },
  operations: ['list', 'get', 'delete'],
} as const satisfies ResourceDefinition

/**
 * An authenticated presence of an identity. The store keeps a digest of its token, by which it is found, and an encrypted form, because
 * routers need the token again.
 */
export interface ApiSessions extends Resource<typeof DEFINITION> {}
export const apiSessions: ApiSessions = defineResource(DEFINITION, {
  identityId: 'The id of the identity that authenticated.',
  authenticatorId:
    "The id of the authenticator that was used; `internal` or `extJwtId:` and a signer's id where none is stored.",
  ipAddress: 'The address from which the session was started, without port.',
  configTypes: 'Ids of the config types whose configs the session sees in services, as asked for when it was started.',
  isMfaRequired: 'True when the identity had a verified second factor as the session was started.',
  isMfaComplete: 'True once the session passed its second factor.',
  isCertExtendable: 'True when the certificate that was used was issued by this network and can be extended.',
  improperClientCertChain: 'True when the client left out intermediates and its certificate was trusted without them.',
  lastActivityAt: 'When the session was last used, RFC 3339; written at intervals.',
  authQueries:
    'The proofs that are missing before the session is fully authenticated. Empty in lists of the management API.',
  cachedLastActivityAt: 'When the session was last used as far as this controller knows, RFC 3339.',
  isCertExtendRequested: 'True when an admin asks the holder to extend the certificate; absent otherwise.',
  isCertKeyRollRequested: 'True when an admin asks for a new key with the next certificate; absent otherwise.',
  token: 'The secret that goes into the header `zt-session`. Shown to the holder alone; empty for everybody else.',
})

const CERTIFICATE_DEFINITION = {
  name: 'api-session-certificates',
  singular: 'api session certificate',
  storeName: 'apiSessionCertificates',
  permission: 'ops',
  writable: {},
  system: {
    apiSessionId: Id,
    certificate: Pem,
    fingerprint: z.string(),
    subject: z.string(),
    validFrom: Instant,
    validTo: Instant,
  },
  hidden: ['apiSessionId'],
  required: [],
  mostPerOwner: { owner: 'apiSessionId', limit: 'certificatesPerApiSession', endsEarliest: 'createdAt' },
  unique: ['fingerprint'],
  indexed: ['apiSessionId'],
  references: { apiSessionId: { to: 'api-sessions', onDelete: 'cascade' } },
  symbols: { apiSession: 'apiSessionId' },
  operations: [],
} as const satisfies ResourceDefinition

/** A short-lived client certificate of one API session. */
export interface ApiSessionCertificates extends Resource<typeof CERTIFICATE_DEFINITION> {}
export const apiSessionCertificates: ApiSessionCertificates = defineResource(CERTIFICATE_DEFINITION, {
  certificate: 'The certificate and its intermediates, PEM. It is good for twelve hours at most.',
  fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits.',
  subject: 'The distinguished name that the certificate was issued to: the id of the identity as common name.',
  validFrom: 'From when on the certificate is good, RFC 3339.',
  validTo: 'When the certificate expires, RFC 3339.',
})
