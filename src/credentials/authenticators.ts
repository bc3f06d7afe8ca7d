import type { z } from 'zod'
import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { type Call, callerOf } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import {
  type AuthenticatorCreate,
  AuthenticatorCreation,
  authenticators,
  EnrollmentExpiry,
  ExtensionRequest,
  OwnPasswordChange,
  OwnPasswordReplacement,
  PasswordChange,
  PasswordReplacement,
} from '../facts/credentials/authenticator.resource.ts'
import { NO_FAILED_ATTEMPTS } from '../facts/credentials/lockout.rules.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { deleteBatch, endReasonsOf } from '../records/deletion.ts'
import { refuseDuplicates, refusingDuplicates } from '../records/references.ts'
import { MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'
import { trustedCertificate } from './certificate-holder.ts'
import { insertInvitation, inviteToEnroll, refuseInvited } from './enrollment-tokens.ts'
import { endApiSessions, endLoginsUnderWay } from './login-basis.ts'
import { networkOfCall, requirePasswordRate } from './login-rate-limits.ts'
import { admitPassword, newAuthenticator, newPasswordHash } from './new-authenticator.ts'
import { recordWrongPassword } from './wrong-passwords.ts'

type Authenticator = RecordOf<typeof authenticators>

type Creation = z.output<typeof AuthenticatorCreation>
type Change = z.output<typeof PasswordChange>

/** The credentials of identities, as admins manage them and as identities manage their own. */
export class Authenticators {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Gives an identity a username and password, or a certificate of the network or of a verified third party.
   *
   * @throws {ControllerError} MAX_AUTHENTICATOR_METHODS_REACHED when the identity has an authenticator of the method.
   * @throws {ControllerError} COULD_NOT_PARSE_PEM_BLOCK when the certificate cannot be read.
   * @throws {ControllerError} CERT_FAILED_VALIDATION when no authority vouches for it.
   * @throws {ControllerError} NOT_FOUND when there is no such identity.
   */
  async create(call: Call, request: AuthenticatorCreate): Promise<Authenticator> {
    const input = readRequest(AuthenticatorCreation, request)
    const { identityId, method } = input
    const now = this.#context.clock.now()
    const credential = await this.#credential(input)
    return this.#write(call, async (tx) => {
      const identity = await tx.collection(identities).get(identityId)
      if (identity === undefined) throw notFound('identity', identityId)
      if (identity.typeId === 'Router') {
        throw invalidField('identityId', 'may not create authenticators for router identities', identityId)
      }
      const where = both(equals('identityId', identityId), equals('method', method))
      const { totalCount } = await tx.collection(authenticators).find({ ...(where && { where }), limit: 1 })
      if (totalCount > 0) throw new ControllerError('MAX_AUTHENTICATOR_METHODS_REACHED')
      if ('caId' in credential && credential.caId !== null) await requireVerified(tx, credential.caId)
      const authenticator = newAuthenticator(this.#context, identityId, credential, now, input.tags)
      await tx.collection(authenticators).insert(authenticator)
      return authenticator
    })
  }

  /**
   * Sets username and password. A new password ends the sessions of the old one.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} CAN_NOT_UPDATE_AUTHENTICATOR when it is no username with password.
   */
  async replace(call: Call, id: string, request: z.input<typeof PasswordReplacement>): Promise<void> {
    const change = readRequest(PasswordReplacement, request)
    await this.#changePassword(call, await this.#get(id), change, async () => undefined)
  }

  /**
   * Changes username or password; an absent member stays. Otherwise as {@link replace}.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} CAN_NOT_UPDATE_AUTHENTICATOR when it is no username with password.
   */
  async patch(call: Call, id: string, request: z.input<typeof PasswordChange>): Promise<void> {
    const change = readRequest(PasswordChange, request)
    await this.#changePassword(call, await this.#get(id), change, async () => undefined)
  }

  /**
   * Sets the caller's own username and password, which needs the current password.
   *
   * @throws {ControllerError} NOT_FOUND when it belongs to another identity.
   * @throws {ControllerError} CAN_NOT_UPDATE_AUTHENTICATOR when it is no username with password.
   * @throws {ControllerError} UNAUTHORIZED when the current password is wrong, which counts towards a lockout.
   * @throws {ControllerError} SERVER_TOO_MANY_REQUESTS as for logins: an API session allows no further guesses.
   */
  replaceOwn(call: Call, id: string, request: z.input<typeof OwnPasswordReplacement>): Promise<void> {
    const { currentPassword, ...change } = readRequest(OwnPasswordReplacement, request)
    return this.#changeOwn(call, id, currentPassword, change)
  }

  /**
   * Changes the caller's own username or password; an absent member stays. Otherwise as {@link replaceOwn}.
   *
   * @throws {ControllerError} NOT_FOUND when it belongs to another identity.
   * @throws {ControllerError} CAN_NOT_UPDATE_AUTHENTICATOR when it is no username with password.
   * @throws {ControllerError} UNAUTHORIZED when the current password is wrong, which counts towards a lockout.
   * @throws {ControllerError} SERVER_TOO_MANY_REQUESTS as for logins: an API session allows no further guesses.
   */
  patchOwn(call: Call, id: string, request: z.input<typeof OwnPasswordChange>): Promise<void> {
    const { currentPassword, ...change } = readRequest(OwnPasswordChange, request)
    return this.#changeOwn(call, id, currentPassword, change)
  }

  async #changeOwn(call: Call, id: string, currentPassword: string, change: Change): Promise<void> {
    const { identity, authPolicy } = callerOf(call)
    const known = await this.#get(id)
    if (known.identityId !== identity.id) throw notFound('authenticator', id)
    if (known.method !== 'updb') throw new ControllerError('CAN_NOT_UPDATE_AUTHENTICATOR')
    await requirePasswordRate(this.#context.rateLimiters, call.remoteAddress, known.username ?? '')
    const now = this.#context.clock.now()
    const verifier = known.passwordHash ?? undefined
    if (!(await this.#context.passwordHasher.verify(currentPassword, verifier, networkOfCall(call)))) {
      await recordWrongPassword(this.#context, known, authPolicy.primary.updb, now)
      throw wrongCurrentPassword()
    }
    await this.#changePassword(call, known, change, async (tx) => {
      if ((await admitPassword(tx, known, now)) !== 'admitted') throw wrongCurrentPassword()
    })
  }

  /**
   * Turns an authenticator back into an enrollment of the method that led to it, valid until `expiresAt` (RFC 3339; by
   * default as long as the settings say), and answers the enrollment's id.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} ENROLLMENT_EXISTS when the identity has an enrollment of the method.
   */
  async revertToEnrollment(call: Call, id: string, request: z.input<typeof EnrollmentExpiry>): Promise<string> {
    const { expiresAt } = readRequest(EnrollmentExpiry, request)
    const now = this.#context.clock.now()
    if (expiresAt !== undefined && expiresAt <= now)
      throw invalidField('expiresAt', 'must be after the current date and time', expiresAt)
    const { identityId, method, username, caId } = await this.#get(id)
    const invitation =
      method === 'updb'
        ? ({ method: 'updb', identityId, username } as const)
        : ({ method: caId === null ? 'ott' : 'ottca', identityId, caId } as const)
    const enrollment = await inviteToEnroll(this.#context, invitation, now, expiresAt)
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const before = await tx.collection(authenticators).get(id)
      if (before === undefined) throw notFound('authenticator', id)
      batch.intend({ operation: 'delete', kind: authenticators.name, id, before })
      await refuseInvited(tx, enrollment)
      if ((await deleteBatch(tx, authenticators, id, batch)) === MORE) return MORE
      await insertInvitation(tx, enrollment)
      return undefined
    }
    await writeInBatches(this.#context, call, work, endReasonsOf(apiSessions))
    return enrollment.id
  }

  /**
   * Asks the holder of a certificate to extend it, with a new key if it can.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} UNAUTHORIZED when it is a password.
   */
  async requestExtension(call: Call, id: string, request: z.input<typeof ExtensionRequest> = {}): Promise<void> {
    const { rollKeys } = readRequest(ExtensionRequest, request)
    const extendRequestedAt = this.#context.clock.now()
    await this.#write(call, async (tx) => {
      const known = await tx.collection(authenticators).get(readId(id))
      if (known === undefined) throw notFound('authenticator', id)
      if (known.method !== 'cert') throw new ControllerError('UNAUTHORIZED')
      const requested = { isExtendRequested: true, isKeyRollRequested: rollKeys, extendRequestedAt }
      await tx.collection(authenticators).update({ ...known, ...requested })
    })
  }

  async #credential({ identityId, method, username, password, certPem }: Creation) {
    switch (method) {
      case 'updb': {
        if (!username) throw invalidField('username', 'username is required', username)
        if (!password) throw invalidField('password', 'password is required', '')
        return { username, passwordHash: await newPasswordHash(this.#context, identityId, password) }
      }
      case 'cert': {
        if (!certPem) throw invalidField('certPem', 'certPem is required', '')
        return trustedCertificate(this.#context, certPem)
      }
      default:
        throw invalidField('method', 'method must be updb or cert', method)
    }
  }

  async #changePassword(
    call: Call,
    known: Authenticator,
    change: Change,
    confirm: (tx: WriteTransaction) => Promise<void>,
  ): Promise<void> {
    if (known.method !== 'updb') throw new ControllerError('CAN_NOT_UPDATE_AUTHENTICATOR')
    const updatedAt = this.#context.clock.now()
    const { password } = change
    const verifier =
      password === undefined
        ? {}
        : { passwordHash: await newPasswordHash(this.#context, known.identityId, password), ...NO_FAILED_ATTEMPTS }
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      await confirm(tx)
      const current = await tx.collection(authenticators).get(known.id)
      if (current === undefined) throw notFound('authenticator', known.id)
      const { username = current.username, tags = current.tags } = change
      const after = { ...current, username, tags, ...verifier, updatedAt }
      batch.intend({ operation: 'update', kind: authenticators.name, id: known.id, before: current, after })
      if (password !== undefined) await endLoginsUnderWay(tx, current.identityId)
      const areOver = password !== undefined && !this.#context.settings.profile.keepSessionsOnPasswordChange
      if (areOver && (await endApiSessions(tx, 'authenticatorId', known.id, batch)) === MORE) {
        await refuseDuplicates(tx, authenticators, after, current)
        return MORE
      }
      await tx.collection(authenticators).update(after)
      return undefined
    }
    await refusingDuplicates(authenticators, () => writeInBatches(this.#context, call, work, endReasonsOf(apiSessions)))
  }

  async #get(id: string): Promise<Authenticator> {
    const found = await this.#context.storage.read((tx) => tx.collection(authenticators).get(readId(id)))
    if (found === undefined) throw notFound('authenticator', id)
    return found
  }

  #write<T>(call: Call, work: (tx: WriteTransaction) => Promise<T>): Promise<T> {
    return refusingDuplicates(authenticators, () => this.#context.writes.run(call, work))
  }
}

function wrongCurrentPassword(): ControllerError {
  const details = { field: 'currentPassword', reason: 'invalid current password', value: '' }
  return new ControllerError('UNAUTHORIZED', details)
}

/** The authority of a certificate was looked at before the write; it may be gone by now. */
async function requireVerified(tx: WriteTransaction, caId: string): Promise<void> {
  const ca = await tx.collection(cas).get(caId)
  if (!ca?.isVerified) throw new ControllerError('CERT_FAILED_VALIDATION')
}
