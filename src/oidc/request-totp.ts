import { ControllerError, notFound } from '../base/errors.ts'
import { type Call, type MissingFactors, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { provesStill } from '../credentials/login-basis.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import { authRequests } from '../facts/oidc/auth-request.resource.ts'
import type { RequestLogin } from '../facts/oidc/auth-request.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import {
  insertMfa,
  type MfaRecord,
  type MfaSecrets,
  mfaSecretsOf,
  newMfa,
  removeMfa,
  withCode,
} from '../login/mfa-records.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'
import type { AuthRequests } from './auth-requests.ts'
import type { ProviderContext } from './token-issue.ts'

/**
 * The second factor of a login: proving it, or enrolling in it during the login. Only a request with a login has an
 * identity whose factor this could be. Codes are limited and work once, as everywhere.
 */
export class RequestTotp {
  readonly #context: ProviderContext
  readonly #requests: AuthRequests

  constructor(context: ProviderContext, requests: AuthRequests) {
    this.#context = context
    this.#requests = requests
  }

  /** Lists the factors that a request still has to prove; empty before a login. Error: `UNAUTHORIZED` for an unknown request. */
  async missing(id: string): Promise<MissingFactors> {
    const { login } = await this.#requests.get(id)
    return login === null ? {} : this.#context.storage.read((tx) => this.#missing(tx, login))
  }

  /** Proves the factor by a one-time password or a recovery code. Errors: `MFA_INVALID_TOKEN`, `RATE_LIMITED`. */
  async pass(call: Call, id: string, code: string): Promise<void> {
    const login = await this.#requests.get(id).then(
      (request) => request.login,
      () => null,
    )
    const mfa = login === null ? undefined : await this.#mfaOf(login.identityId)
    if (!mfa?.isVerified) throw new ControllerError('MFA_INVALID_TOKEN')
    await withCode(this.#context, redeemed(call), mfa, code, 'totp-or-recovery', async (tx, accepted) => {
      await tx.collection(mfas).update(accepted)
      await this.#pass(tx, id, mfa.identityId)
    })
  }

  /** Begins an enrollment. Errors: `UNAUTHORIZED` before a login, `MFA_EXISTS`. */
  async enroll(call: Call, id: string): Promise<{ readonly record: MfaRecord; readonly secrets: MfaSecrets }> {
    const { identityId } = await this.#login(id)
    const record = await newMfa(this.#context, identityId)
    await insertMfa(this.#context, redeemed(call), record)
    return { record, secrets: await this.#secretsOf(record) }
  }

  /** Reads the secrets of a pending enrollment; `undefined` when none is pending. */
  async pendingSecrets(id: string): Promise<MfaSecrets | undefined> {
    const { identityId } = await this.#login(id)
    const mfa = await this.#mfaOf(identityId)
    return mfa === undefined || mfa.isVerified ? undefined : this.#secretsOf(mfa)
  }

  /** Completes a pending enrollment, which proves the factor. Errors: `NOT_FOUND` without one, `MFA_INVALID_TOKEN`. */
  async verify(call: Call, id: string, code: string): Promise<MissingFactors> {
    const { identityId } = await this.#login(id)
    const mfa = await this.#mfaOf(identityId)
    if (mfa === undefined || mfa.isVerified) throw notFound('mfa', identityId)
    await withCode(this.#context, redeemed(call), mfa, code, 'totp', async (tx, accepted) => {
      await tx.collection(mfas).update({ ...accepted, isVerified: true, updatedAt: this.#context.clock.now() })
      await this.#pass(tx, id, identityId)
    })
    return this.missing(id)
  }

  /** Ends an enrollment; a complete one needs a code. Errors: `NOT_FOUND` without one, `MFA_INVALID_TOKEN`. */
  async remove(call: Call, id: string, code: string): Promise<void> {
    const { identityId } = await this.#login(id)
    const mfa = await this.#mfaOf(identityId)
    if (mfa === undefined) throw notFound('mfa', identityId)
    await this.#removal(call, mfa, code, id)
  }

  async #removal(call: Call, mfa: MfaRecord, code: string, requestId: string): Promise<void> {
    if (mfa.isVerified) {
      const remove = (tx: WriteTransaction) => removeMfa(this.#context, tx, mfa.identityId, requestId)
      return withCode(this.#context, redeemed(call), mfa, code, 'totp-or-recovery', remove)
    }
    const isRemoved = await this.#context.writes.run(redeemed(call), async (tx) => {
      // It may have been completed since, and needs a code then.
      const current = await tx.collection(mfas).get(mfa.id)
      if (current === undefined || current.isVerified) return false
      await removeMfa(this.#context, tx, mfa.identityId, requestId)
      return true
    })
    if (!isRemoved) throw new ControllerError('MFA_INVALID_TOKEN')
  }

  async #login(id: string): Promise<RequestLogin> {
    const { login } = await this.#requests.get(id)
    if (login === null) throw new ControllerError('UNAUTHORIZED')
    return login
  }

  #mfaOf(identityId: string): Promise<MfaRecord | undefined> {
    return this.#context.storage.read((tx) => findOne(tx, mfas, 'identityId', identityId))
  }

  async #secretsOf(mfa: MfaRecord): Promise<MfaSecrets> {
    const identity = await this.#context.storage.read((tx) => tx.collection(identities).get(mfa.identityId))
    return mfaSecretsOf(this.#context, mfa, identity?.name ?? mfa.identityId)
  }

  async #pass(tx: WriteTransaction, id: string, identityId: string): Promise<void> {
    const request = await this.#requests.find(tx, id)
    // Another identity may have logged in meanwhile: this code is not its proof.
    if (request?.login?.identityId !== identityId) throw new ControllerError('MFA_INVALID_TOKEN')
    await tx.collection(authRequests).update({ ...request, login: { ...request.login, hasPassedTotp: true } })
  }

  async #missing(tx: ReadTransaction, login: RequestLogin): Promise<MissingFactors> {
    const authPolicy = await policyOf(tx, login.identityId)
    if (authPolicy === undefined) throw new ControllerError('UNAUTHORIZED')
    return missingOfRequest(this.#context, tx, login, authPolicy)
  }
}

/** The auth policy of an identity. */
export async function policyOf(
  tx: ReadTransaction,
  identityId: string,
): Promise<RecordOf<typeof authPolicies> | undefined> {
  const identity = await tx.collection(identities).get(identityId)
  return identity && tx.collection(authPolicies).get(identity.authPolicyId)
}

/**
 * Lists the factors that an auth request still has to prove after its login: TOTP where the identity has it or its auth policy requires
 * it, and a token of the signer that the policy requires, which counts for as long as the signer names the identity by it.
 */
export async function missingOfRequest(
  context: EngineContext,
  tx: ReadTransaction,
  { identityId, hasPassedTotp, provenSigner }: RequestLogin,
  { secondary }: RecordOf<typeof authPolicies>,
): Promise<MissingFactors> {
  const mfa = hasPassedTotp ? undefined : await findOne(tx, mfas, 'identityId', identityId)
  const isEnrolled = mfa?.isVerified ?? false
  const needsTotp = !hasPassedTotp && (secondary.requireTotp || isEnrolled)
  const wanted = secondary.requireExtJwtSigner
  const required = wanted ? await tx.collection(externalJwtSigners).get(wanted) : undefined
  const identity = required && (await tx.collection(identities).get(identityId))
  const now = context.clock.now()
  const isProven = required && identity && provesStill(context, provenSigner, required, identity, now)
  const signer = isProven ? undefined : required
  return { ...(needsTotp && { totp: { isEnrolled } }), ...(signer && { signer }) }
}

/** Reports whether nothing is missing. */
export function isComplete({ totp, signer }: MissingFactors): boolean {
  return totp === undefined && signer === undefined
}
