import { z } from 'zod'
import { ControllerError, TokenRefused } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import {
  certificateHolder,
  isValidAt,
  type MakeIdentity,
  noteCertificateUse,
} from '../credentials/certificate-holder.ts'
import { tokenHolder } from '../credentials/external-logins.ts'
import { certificateBasis, LostBasis, passwordBasis, signerBasis } from '../credentials/login-basis.ts'
import { networkOfCall, requirePasswordRate } from '../credentials/login-rate-limits.ts'
import { admitPassword } from '../credentials/new-authenticator.ts'
import { recordWrongPassword } from '../credentials/wrong-passwords.ts'
import { isDisabled } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { attributesClaimed } from '../facts/credentials/signers/claimed-attributes.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { makeIdentityOf } from '../identities/claimed-identities.ts'
import { askDirectory } from '../identities/directory-answers.ts'
import { readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'
import { type ClientInfo, readClientInfo, type SentClientInfo, type Start } from './api-session-start.ts'

type Method = 'password' | 'cert' | 'ext-jwt'

interface Credentials {
  readonly authenticator: RecordOf<typeof authenticators>
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
}

/** Begins an API session, or a step of a longer login, after good credentials. */
export type BeginLogin<Begun> = (call: Call, who: Omit<Credentials, 'authenticator'>, start: Start) => Promise<Begun>

/** Why an authentication failed: for the operator's events, never for the caller. */
class Refusal extends Error {
  readonly reason: string
  readonly identityId: string | undefined

  constructor(reason: string, identityId?: string) {
    super(reason)
    this.reason = reason
    this.identityId = identityId
  }
}

/** The verifier that judged the password has been replaced in the store. */
class VerifierReplaced extends Error {}

/**
 * Authenticates callers. Every failure looks the same from outside, `INVALID_AUTH`, whatever its reason, and a password
 * costs the same time for a known and an unknown username.
 */
export class Authentication<Begun> {
  readonly #context: EngineContext
  readonly #begin: BeginLogin<Begun>

  /** `begin` is called once the credentials are accepted. */
  constructor(context: EngineContext, begin: BeginLogin<Begun>) {
    this.#context = context
    this.#begin = begin
  }

  /**
   * Authenticates by username and password.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when one of the two is missing.
   * @throws {ControllerError} INVALID_AUTH when they are refused.
   * @throws {ControllerError} SERVER_TOO_MANY_REQUESTS when the address or the username is tried too often,
   *   or too many passwords of the network wait.
   *
   * @example
   * const caller = await engine.authentication.byPassword({ by: 'anonymous' }, 'alice', 'password')
   * await engine.sessions.create({ by: 'caller', caller }, { serviceId, type: 'Dial' })
   */
  async byPassword(call: Call, username: string, password: string, client: SentClientInfo = {}): Promise<Begun> {
    const known = readClientInfo(client)
    readValue('username', z.string(), username)
    readValue('password', z.string(), password)
    if (username === '' || password === '') {
      const message = 'username and password fields are required'
      throw new ControllerError('COULD_NOT_VALIDATE', { code: 'UNHANDLED', message })
    }
    await requirePasswordRate(this.#context.rateLimiters, call.remoteAddress, username)
    return this.#attempt('password', call, () => this.#withPassword(call, username, password, known))
  }

  /**
   * Authenticates by the client certificate of the connection.
   *
   * @throws {ControllerError} INVALID_AUTH when it is refused.
   */
  async byCertificate(call: Call, sent: SentClientInfo = {}): Promise<Begun> {
    const client = readClientInfo(sent)
    return this.#attempt('cert', call, async () => {
      const now = this.#context.clock.now()
      const holder = await certificateHolder(
        this.#context,
        call.clientCertificates ?? [],
        now,
        this.#makerOfIdentities(call),
      )
      if (typeof holder === 'string') throw new Refusal(holder)
      const { authenticator, identity, authPolicy, leaf, improper } = holder
      this.#refuseDisabled(identity)
      if (!authPolicy.primary.cert.allowed) throw new Refusal('auth policy forbids certificates', identity.id)
      if (!authPolicy.primary.cert.allowExpiredCerts && !isValidAt(leaf, now)) {
        throw new Refusal('client certificate is not valid now', identity.id)
      }
      return this.#enter(call, holder, {
        method: 'cert',
        ...certificateBasis(this.#context, holder),
        isCertExtendable: authenticator?.isIssuedByNetwork ?? false,
        isExtendRequested: authenticator?.isExtendRequested ?? false,
        isKeyRollRequested: authenticator?.isKeyRollRequested ?? false,
        fingerprint: leaf.fingerprint,
        improper,
        client,
        confirm: async (tx) => {
          if (authenticator !== undefined) await noteCertificateUse(tx, authenticator, improper)
        },
      })
    })
  }

  /**
   * Authenticates by a bearer token of an external signer.
   *
   * @throws {ControllerError} INVALID_AUTH when it is refused.
   * @throws {ControllerError} UNAUTHORIZED with the problem of the token.
   */
  async byExternalJwt(call: Call, sent: SentClientInfo = {}): Promise<Begun> {
    const client = readClientInfo(sent)
    return this.#attempt('ext-jwt', call, async () => {
      const holder = await tokenHolder(this.#context, call.bearerTokens ?? [], this.#makerOfIdentities(call))
      return this.#enter(call, holder, {
        method: 'ext-jwt',
        ...signerBasis(this.#context, holder.signer, holder.identity),
        claimed: attributesClaimed(holder.claims, holder.signer.attributeClaimsSelector),
        client,
      })
    })
  }

  /** Makes identities of persons that the directory of the host finds; undefined without a directory. */
  #makerOfIdentities(call: Call): MakeIdentity | undefined {
    if (this.#context.host.directory === undefined) return undefined
    return (externalId, voucher) => makeIdentityOf(this.#context, call, { externalId }, voucher)
  }

  async #withPassword(call: Call, username: string, password: string, client: ClientInfo): Promise<Begun> {
    const { storage, passwordHasher, clock } = this.#context
    const found = await storage.read((tx) => this.#credentials(tx, 'username', username))
    const verifier = found?.authenticator.passwordHash ?? undefined
    const valid = await passwordHasher.verify(password, verifier, networkOfCall(call))
    if (found === undefined) throw new Refusal('unknown username')
    const { authenticator, identity, authPolicy } = found
    this.#refuseDisabled(identity)
    // An identity that may not use passwords at all does not learn whether its password is right.
    if (!authPolicy.primary.updb.allowed) throw new Refusal('auth policy forbids passwords', identity.id)
    const now = clock.now()
    if (!valid || verifier === undefined) {
      await recordWrongPassword(this.#context, authenticator, authPolicy.primary.updb, now)
      throw new Refusal('wrong password', identity.id)
    }
    const fresh = passwordHasher.needsRehash(verifier) ? await passwordHasher.hash(password) : undefined
    try {
      return await this.#enter(call, found, {
        method: 'password',
        ...passwordBasis(authenticator.id),
        client,
        confirm: async (tx) => {
          const verdict = await admitPassword(tx, authenticator, now, fresh)
          if (verdict === 'changed') throw new VerifierReplaced()
          if (verdict === 'locked') throw new Refusal('password is locked', identity.id)
        },
      })
    } catch (error) {
      // A concurrent login may have replaced an outdated verifier of the same password.
      if (error instanceof VerifierReplaced) return this.#withPassword(call, username, password, client)
      throw error
    }
  }

  async #attempt(method: Method, call: Call, authenticate: () => Promise<Begun>): Promise<Begun> {
    const { clock, events } = this.#context
    const { remoteAddress, requestId } = call
    const about = { method, remoteAddress, requestId, at: clock.now() }
    try {
      return await authenticate()
    } catch (error) {
      if (error instanceof TokenRefused) {
        const reason = `${error.problem} external token`
        events.emit('authentication.attempted', { ...about, success: false, identityId: undefined, reason })
      }
      if (!(error instanceof Refusal || error instanceof LostBasis)) throw error
      const { reason, identityId } = error
      events.emit('authentication.attempted', { ...about, success: false, identityId, reason })
      if (method === 'ext-jwt') throw new TokenRefused('primary', 'invalid', [])
      throw new ControllerError('INVALID_AUTH')
    }
  }

  async #enter(call: Call, who: Omit<Credentials, 'authenticator'>, start: Start): Promise<Begun> {
    const { method } = start
    const identityId = who.identity.id
    const { remoteAddress } = call
    if (!(await this.#context.host.admitsLogin({ method, identityId, remoteAddress }))) {
      throw new Refusal('the host refuses the login', identityId)
    }
    const { directory } = this.#context.host
    if (directory !== undefined) await askDirectory(this.#context, directory, who.identity)
    const begun = await this.#begin(call, who, start)
    this.#context.events.emit('authentication.attempted', {
      method: start.method,
      remoteAddress: call.remoteAddress,
      requestId: call.requestId,
      at: this.#context.clock.now(),
      success: true,
      identityId: who.identity.id,
      reason: undefined,
    })
    return begun
  }

  async #credentials(
    tx: ReadTransaction,
    field: 'username' | 'fingerprint',
    value: string,
  ): Promise<Credentials | undefined> {
    const authenticator = await findOne(tx, authenticators, field, value)
    if (authenticator === undefined) return undefined
    const identity = await tx.collection(identities).get(authenticator.identityId)
    const authPolicy = identity && (await tx.collection(authPolicies).get(identity.authPolicyId))
    return identity && authPolicy && { authenticator, identity, authPolicy }
  }

  #refuseDisabled(identity: RecordOf<typeof identities>): void {
    if (isDisabled(identity, this.#context.clock.now())) throw new Refusal('identity is disabled', identity.id)
  }
}
