import { changePosture } from '../access/posture/posture-store.ts'
import { refuseAdminChange } from '../authority/containment.ts'
import { ControllerError, notFound } from '../base/errors.ts'
import { type Call, callerOf, isAdminCall, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { recordMfaPass } from '../facts/access/posture/rules/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { MfaCode } from '../facts/login/login-requests.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import { readId, readValue } from '../kernel/declaration/read-body.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'
import {
  insertMfa,
  type MfaRecord,
  type MfaSecrets,
  mfaSecretsOf,
  newMfa,
  newRecoveryCodes,
  recoveryCodesOf,
  removeMfa,
  withCode,
} from './mfa-records.ts'

/**
 * The second factor of the caller. A code works once. Errors of every method that takes one: `MFA_INVALID_TOKEN`, and
 * `RATE_LIMITED` after 10 wrong codes in five minutes or 50 in a day.
 */
export class Mfa {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Begins an enrollment.
   *
   * @throws {ControllerError} MFA_EXISTS when there is an enrollment.
   */
  async enroll(call: Call): Promise<MfaRecord> {
    const record = await newMfa(this.#context, callerOf(call).identity.id)
    await insertMfa(this.#context, call, record)
    return record
  }

  /**
   * The caller's enrollment.
   *
   * @throws {ControllerError} NOT_FOUND when there is none.
   */
  async get(call: Call): Promise<MfaRecord> {
    const found = await this.#find(call)
    if (found === undefined) throw notFound('mfa', callerOf(call).identity.id)
    return found
  }

  /**
   * Reads the secrets of a pending enrollment.
   *
   * @throws {ControllerError} NOT_FOUND when none is pending.
   */
  async pendingSecrets(call: Call): Promise<MfaSecrets> {
    return mfaSecretsOf(this.#context, await this.#get(call, false), callerOf(call).identity.name)
  }

  /**
   * The provisioning URL as a QR code, PNG.
   *
   * @throws {ControllerError} NOT_FOUND when none is pending.
   */
  async qrCode(call: Call): Promise<Uint8Array> {
    return this.#context.qrCode.png((await this.pendingSecrets(call)).provisioningUrl)
  }

  /**
   * Completes a pending enrollment; the caller's session has passed MFA then.
   *
   * @throws {ControllerError} NOT_FOUND when none is pending.
   * @throws {ControllerError} MFA_INVALID_TOKEN when the code is wrong, or was used.
   */
  async verify(call: Call, code: string): Promise<void> {
    readValue('code', MfaCode, code)
    const mfa = await this.#get(call, false)
    await withCode(this.#context, call, mfa, code, 'totp', async (tx, accepted) => {
      if (accepted.isVerified) throw notFound('mfa', mfa.identityId)
      await tx.collection(mfas).update({ ...accepted, isVerified: true, updatedAt: this.#context.clock.now() })
      await this.#pass(tx, call)
    })
  }

  /**
   * Proves MFA for the caller's session, by one-time password or recovery code.
   *
   * @throws {ControllerError} MFA_NOT_ENROLLED when there is no complete enrollment.
   * @throws {ControllerError} MFA_INVALID_TOKEN when the code is wrong, or was used.
   */
  async authenticate(call: Call, code: string): Promise<void> {
    readValue('code', MfaCode, code)
    const mfa = await this.#find(call)
    if (!mfa?.isVerified) throw new ControllerError('MFA_NOT_ENROLLED')
    await withCode(this.#context, call, mfa, code, 'totp-or-recovery', async (tx, accepted) => {
      await tx.collection(mfas).update(accepted)
      await this.#pass(tx, call)
    })
  }

  /**
   * A signed token that proves to edge routers that the caller passed MFA just now, for a session that is made of
   * tokens. `issuedAt` is epoch ms.
   *
   * @throws {ControllerError} INVALID_BACKING_TOKEN_TYPE when the session is not made of tokens.
   * @throws {ControllerError} MFA_NOT_ENROLLED when there is no complete enrollment.
   * @throws {ControllerError} MFA_INVALID_TOKEN when the code is wrong, or was used.
   */
  async totpToken(call: Call, code: string): Promise<{ readonly token: string; readonly issuedAt: number }> {
    readValue('code', MfaCode, code)
    const { apiSession, identity, accessToken } = callerOf(call)
    if (accessToken === undefined) throw new ControllerError('INVALID_BACKING_TOKEN_TYPE')
    await this.authenticate(call, code)
    const { clock, random, settings, tokens } = this.#context
    const issuedAt = clock.now()
    const token = await tokens.sign({
      iss: `https://${settings.address}`,
      sub: identity.id,
      aud: ['openziti'],
      iat: Math.floor(issuedAt / 1000),
      jti: random.uuid(),
      z_asid: apiSession.id,
      z_t: 't',
    })
    return { token, issuedAt }
  }

  /**
   * Ends the caller's enrollment; a complete one needs a code.
   *
   * @throws {ControllerError} NOT_FOUND when there is none.
   * @throws {ControllerError} MFA_INVALID_TOKEN when the code is wrong, or was used.
   */
  async remove(call: Call, code: string): Promise<void> {
    readValue('code', MfaCode, code)
    const mfa = await this.get(call)
    if (mfa.isVerified) {
      await withCode(this.#context, call, mfa, code, 'totp-or-recovery', (tx) =>
        removeMfa(this.#context, tx, mfa.identityId),
      )
      return
    }
    const isRemoved = await this.#context.writes.run(call, async (tx) => {
      // It may have been completed since, and needs a code then.
      const current = await tx.collection(mfas).get(mfa.id)
      if (current === undefined || current.isVerified) return false
      await removeMfa(this.#context, tx, mfa.identityId)
      return true
    })
    if (!isRemoved) await this.remove(call, code)
  }

  /**
   * Ends the enrollment of any identity, if it has one.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such identity.
   */
  async removeFrom(call: Call, identityId: string): Promise<void> {
    readId(identityId, 'identityId')
    await this.#context.writes.run(call, async (tx) => {
      const identity = await tx.collection(identities).get(identityId)
      if (identity === undefined) throw notFound('identity', identityId)
      refuseAdminChange(call, identity)
      refuseOwnFactor(call, identityId)
      await removeMfa(this.#context, tx, identityId)
    })
  }

  /**
   * The unused recovery codes, given a one-time password.
   *
   * @throws {ControllerError} NOT_FOUND when there is no complete enrollment.
   * @throws {ControllerError} MFA_INVALID_TOKEN when the code is wrong, or was used.
   */
  async recoveryCodes(call: Call, code: string): Promise<{ record: MfaRecord; recoveryCodes: readonly string[] }> {
    readValue('code', MfaCode, code)
    let record = await this.#get(call, true)
    await withCode(this.#context, call, record, code, 'totp', async (tx, accepted) => {
      await tx.collection(mfas).update(accepted)
      record = accepted
    })
    return { record, recoveryCodes: await recoveryCodesOf(this.#context, record) }
  }

  /**
   * Replaces every recovery code.
   *
   * @throws {ControllerError} NOT_FOUND when there is no complete enrollment.
   * @throws {ControllerError} MFA_INVALID_TOKEN when the code is wrong, or was used.
   */
  async renewRecoveryCodes(call: Call, code: string): Promise<void> {
    readValue('code', MfaCode, code)
    const mfa = await this.#get(call, true)
    const sealedCodes = await newRecoveryCodes(this.#context, mfa.identityId)
    await withCode(this.#context, call, mfa, code, 'totp-or-recovery', async (tx, accepted) => {
      await tx.collection(mfas).update({ ...accepted, sealedCodes, updatedAt: this.#context.clock.now() })
    })
  }

  #find(call: Call): Promise<MfaRecord | undefined> {
    const { identity } = callerOf(call)
    return this.#context.storage.read((tx) => findOne(tx, mfas, 'identityId', identity.id))
  }

  async #get(call: Call, isVerified: boolean): Promise<MfaRecord> {
    const mfa = await this.get(call)
    if (mfa.isVerified !== isVerified) throw notFound('mfa', mfa.identityId)
    return mfa
  }

  async #pass(tx: WriteTransaction, call: Call): Promise<void> {
    const { apiSession, identity } = callerOf(call)
    const now = this.#context.clock.now()
    const session = await tx.collection(apiSessions).get(apiSession.id)
    if (session === undefined) throw new ControllerError('UNAUTHORIZED')
    await tx.collection(apiSessions).update({ ...session, isMfaRequired: true, isMfaComplete: true, updatedAt: now })
    const endpoint = { identityId: identity.id, apiSessionId: apiSession.id, now }
    await changePosture(this.#context, tx, endpoint, [], (known) => recordMfaPass(known, apiSession.id, now))
  }
}

/** A delegate removes the lost factor of others. Its own it removes by a code, like any caller. Error: `UNAUTHORIZED`. */
function refuseOwnFactor(call: Call, identityId: string): void {
  if (isAdminCall(call) || knownCaller(call)?.identity.id !== identityId) return
  throw new ControllerError('UNAUTHORIZED', {
    code: 'UNHANDLED',
    message: 'a second factor of its own is removed by a code',
  })
}
