import { NO_FAILED_ATTEMPTS } from '../../domain/login/lockout.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { authenticators } from '../../resources/login/authenticators.ts'
import type { EngineContext } from '../context/context.ts'
import { newRecord } from '../records/new-record.ts'

type Authenticator = RecordOf<typeof authenticators>

/** What makes an authenticator: a username with the verifier of a password, or a certificate and where it came from. */
export type Credential =
  | Pick<Authenticator, 'username' | 'passwordHash'>
  | (Pick<Authenticator, 'certPem' | 'fingerprint'> & Partial<Pick<Authenticator, 'isIssuedByNetwork' | 'caId'>>)

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
    caId: null,
    lastAuthResolvedToRoot: true,
    isExtendRequested: false,
    isKeyRollRequested: false,
    extendRequestedAt: null,
    lastExtendRolledKeys: false,
    ...credential,
  })
}
