/**
 * The names of stored records, with instants in epoch milliseconds, that declarations of the package show. The build writes them in place
 * of types that lead to the declaration of a resource (`scripts/bundle.ts`); no source takes them.
 */

import type { RecordOf } from '../../kernel/declaration/resource.ts'
import type { AuthPolicies } from '../credentials/auth-policy.resource.ts'
import type { ExternalJwtSigners } from '../credentials/signers/external-jwt-signer.resource.ts'
import type { Identities } from '../identities/identity.resource.ts'
import type { ApiSessions } from '../login/api-session.resource.ts'
import type { Flat } from './wire-types.ts'

export type ApiSessionRecord = Flat<RecordOf<ApiSessions>>
export type AuthPolicyRecord = Flat<RecordOf<AuthPolicies>>
export type ExternalJwtSignerRecord = Flat<RecordOf<ExternalJwtSigners>>
export type IdentityRecord = Flat<RecordOf<Identities>>
