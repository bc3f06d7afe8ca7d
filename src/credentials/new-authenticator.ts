import { invalidField, notFound } from '../base/errors.ts'
import { instant } from '../base/time.ts'
import type { EngineContext } from '../context/context.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { type Authenticators, authenticators } from '../facts/credentials/authenticator.resource.ts'
import { isLocked, NO_FAILED_ATTEMPTS } from '../facts/credentials/lockout.rules.ts'
import { passwordWeakness } from '../facts/credentials/password.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { CertificateFacts } from '../ports/pki.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { newRecord } from '../records/read-records.ts'
import type { Detail } from '../records/render.ts'

type Authenticator = RecordOf<typeof authenticators>

/** The parts of an authenticator: a username with the verifier of a password, or a certificate and where it came from. */
export type Credential =
  | Pick<Authenticator, 'username' | 'passwordHash'>
  | (Pick<Authenticator, 'certPem' | 'fingerprint'> &
      Partial<Pick<Authenticator, 'isIssuedByNetwork' | 'authorityKeyId' | 'caId'>>)

/** The credential that is a certificate of the network. */
export function credentialOf({ pem: certPem, fingerprint, authorityKeyId }: CertificateFacts): Credential {
  return { certPem, fingerprint, authorityKeyId, isIssuedByNetwork: true }
}

/** A new authenticator of an identity; `now` is epoch milliseconds. */
export function newAuthenticator(
  context: EngineContext,
  identityId: string,
  credential: Credential,
  now: number,
  tags: Authenticator['tags'] = {},
): Authenticator {
  return newRecord(context.random.id(), now, {
    tags,
    identityId,
    method: 'username' in credential ? 'updb' : 'cert',
    username: null,
    passwordHash: null,
    ...NO_FAILED_ATTEMPTS,
    certPem: null,
    fingerprint: null,
    unverifiedPem: null,
    unverifiedFingerprint: null,
    isIssuedByNetwork: false,
    authorityKeyId: null,
    caId: null,
    lastAuthResolvedToRoot: true,
    isExtendRequested: false,
    isKeyRollRequested: false,
    extendRequestedAt: null,
    lastExtendRolledKeys: false,
    ...credential,
  })
}

/** An authenticator shows the members of its method alone. */
export const authenticatorBehaviour: Behaviour<Authenticators> = {
  resource: authenticators,

  members: async (_context, _tx, _call, records) =>
    records.map((authenticator) => ({
      _links: {
        self: { href: `./authenticators/${authenticator.id}` },
        identities: { href: `./identities/${authenticator.identityId}` },
      },
      ...(authenticator.method === 'updb' ? WITHOUT_CERTIFICATE : certificateMembers(authenticator)),
    })),
}

function certificateMembers({ extendRequestedAt }: Authenticator): Detail {
  return { username: undefined, extendRequestedAt: instant(extendRequestedAt) }
}

const WITHOUT_CERTIFICATE = {
  certPem: undefined,
  fingerprint: undefined,
  isIssuedByNetwork: undefined,
  lastAuthResolvedToRoot: undefined,
  isExtendRequested: undefined,
  isKeyRollRequested: undefined,
  extendRequestedAt: undefined,
  lastExtendRolledKeys: undefined,
} as const

/**
 * The verifier of a new password of an identity, which its auth policy must accept. Slow work: call it before
 * the transaction. Errors: `NOT_FOUND` for the identity, `COULD_NOT_VALIDATE` for the password, which is never echoed.
 */
export async function newPasswordHash(context: EngineContext, identityId: string, password: string): Promise<string> {
  const authPolicy = await context.storage.read(async (tx) => {
    const identity = await tx.collection(identities).get(identityId)
    if (identity === undefined) throw notFound('identity', identityId)
    return tx.collection(authPolicies).get(identity.authPolicyId)
  })
  if (authPolicy === undefined) throw notFound('auth policy', identityId)
  const weakness = passwordWeakness(password, authPolicy.primary.updb)
  if (weakness !== undefined && !context.settings.profile.allowWeakPasswords)
    throw invalidField('password', `password in body ${weakness}`, '')
  return context.passwordHasher.hash(password)
}

/**
 * Admits a right password within the write that acts on it: `changed` when another verifier was stored in between, `locked`
 * while it is locked. Otherwise earlier failures are forgotten and the verifier is replaced by `fresh`, if given.
 */
export async function admitPassword(
  tx: WriteTransaction,
  checked: Authenticator,
  now: number,
  fresh?: string,
): Promise<'admitted' | 'changed' | 'locked'> {
  const current = await tx.collection(authenticators).get(checked.id)
  if (current === undefined || current.passwordHash !== checked.passwordHash) return 'changed'
  if (isLocked(current, now)) return 'locked'
  if (current.failedAttempts > 0 || fresh !== undefined) {
    const passwordHash = fresh ?? current.passwordHash
    await tx.collection(authenticators).update({ ...current, ...NO_FAILED_ATTEMPTS, passwordHash })
  }
  return 'admitted'
}
