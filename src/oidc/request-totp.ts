import { ControllerError, notFound } from '../../../domain/errors.ts'
import type { RequestLogin } from '../../../domain/oidc/auth-request.ts'
import type { ReadTransaction, WriteTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { authPolicies } from '../../../resources/login/auth-policies.ts'
import { authRequests } from '../../../resources/login/auth-requests.ts'
import { mfas } from '../../../resources/login/mfas.ts'
import { type Call, type MissingFactors, redeemed } from '../../context/call.ts'
import { type MfaRecord, withCode } from '../../login/mfa-codes.ts'
import { insertMfa, type MfaSecrets, mfaSecretsOf, newMfa, removeMfa } from '../../login/mfa-records.ts'
import { findOne } from '../../records/find-one.ts'
import type { ProviderContext } from '../tokens/provider-context.ts'
import type { AuthRequests } from './auth-requests.ts'
import { missingOfRequest } from './request-factors.ts'

/**
 * The second factor of a login: proving it, or enrolling in it on the way. Only a request on which somebody logged in has
 * an identity whose factor this could be. Codes are limited and good once, as everywhere.
 */
export class RequestTotp {
  readonly #context: ProviderContext
  readonly #requests: AuthRequests

  constructor(context: ProviderContext, requests: AuthRequests) {
    this.#context = context
    this.#requests = requests
  }

  /** What is still to be proved on a request; nothing before anybody logged in. Error: `UNAUTHORIZED` for an unknown one. */
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

  /** Begins an enrollment. Errors: `UNAUTHORIZED` before anybody logged in, `MFA_EXISTS`. */
  async enroll(call: Call, id: string): Promise<{ readonly record: MfaRecord; readonly secrets: MfaSecrets }> {
    const { identityId } = await this.#login(id)
    const record = await newMfa(this.#context, identityId)
    await insertMfa(this.#context, redeemed(call), record)
    return { record, secrets: await this.#secretsOf(record) }
  }

  /** What is shown while an enrollment is pending; `undefined` when none is. */
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
