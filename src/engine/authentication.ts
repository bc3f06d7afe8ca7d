import { ControllerError } from '../domain/errors.ts'
import { isDisabled } from '../domain/identity.ts'
import type { CertificateFacts } from '../ports/pki.ts'
import type { ReadTransaction } from '../ports/storage.ts'
import { authPolicies } from '../resources/auth-policies.ts'
import { authenticators } from '../resources/authenticators.ts'
import { identities } from '../resources/identities.ts'
import type { RecordOf } from '../resources/resource.ts'
import type { ApiSessions, ClientInfo } from './api-sessions.ts'
import type { Call, Caller } from './call.ts'
import type { EngineContext } from './context.ts'
import { findOne } from './find-one.ts'
import { admitPassword, recordWrongPassword } from './password-attempts.ts'

type Method = 'password' | 'cert'

interface Credentials {
  readonly authenticator: RecordOf<typeof authenticators>
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
}

/** Why an authentication failed: for the operator's events, never for the caller. */
class Refusal extends Error {
  readonly identityId: string | undefined

  constructor(reason: string, identityId?: string) {
    super(reason)
    this.identityId = identityId
  }
}

/**
 * Finds out who is calling. Every failure looks the same from outside, `INVALID_AUTH`, whatever its reason, and a password
 * costs the same time for a known and an unknown username (interface: Authentication).
 */
export class Authentication {
  readonly #context: EngineContext
  readonly #apiSessions: ApiSessions

  constructor(context: EngineContext, apiSessions: ApiSessions) {
    this.#context = context
    this.#apiSessions = apiSessions
  }

  /** Starts an API session for a username and password. Errors: `COULD_NOT_VALIDATE` without both, `INVALID_AUTH`. */
  byPassword(call: Call, username: string, password: string, client: ClientInfo): Promise<Caller> {
    if (username === '' || password === '') {
      const message = 'username and password fields are required'
      throw new ControllerError('COULD_NOT_VALIDATE', { code: 'UNHANDLED', message })
    }
    return this.#attempt('password', call, async () => {
      const found = await this.#context.storage.read((tx) => this.#credentials(tx, 'username', username))
      const valid = await this.#context.passwordHasher.verify(password, found?.authenticator.passwordHash ?? undefined)
      if (found === undefined) throw new Refusal('unknown username')
      const { authenticator, identity, authPolicy } = found
      this.#refuseDisabled(identity)
      if (!authPolicy.primary.updb.allowed) throw new Refusal('auth policy forbids passwords', identity.id)
      const now = this.#context.clock.now()
      if (!valid) {
        await recordWrongPassword(this.#context, authenticator.id, authPolicy.primary.updb, now)
        throw new Refusal('wrong password', identity.id)
      }
      return this.#apiSessions.start(call, found, {
        method: 'password',
        authenticatorId: authenticator.id,
        isCertExtendable: false,
        client,
        confirm: async (tx) => {
          const verdict = await admitPassword(tx, authenticator, now)
          if (verdict !== 'admitted') throw new Refusal(`password is ${verdict}`, identity.id)
        },
      })
    })
  }

  /** Starts an API session for the client certificate of the connection. Error: `INVALID_AUTH`. */
  byCertificate(call: Call, client: ClientInfo): Promise<Caller> {
    return this.#attempt('cert', call, async () => {
      const now = this.#context.clock.now()
      const chain = call.clientCertificates ?? []
      if (chain.length === 0) throw new Refusal('no client certificate')
      const verdict = await this.#context.pki.verifyClientChain(chain, now)
      if (!verdict.trusted) throw new Refusal('untrusted client certificate')
      const found = await this.#context.storage.read((tx) =>
        this.#credentials(tx, 'fingerprint', verdict.leaf.fingerprint),
      )
      if (found === undefined) throw new Refusal('unknown client certificate')
      const { authenticator, identity, authPolicy } = found
      this.#refuseDisabled(identity)
      if (!authPolicy.primary.cert.allowed) throw new Refusal('auth policy forbids certificates', identity.id)
      if (!authPolicy.primary.cert.allowExpiredCerts && !isValidAt(verdict.leaf, now)) {
        throw new Refusal('client certificate is not valid now', identity.id)
      }
      const isCertExtendable = authenticator.isIssuedByNetwork
      const improper = verdict.improper
      return this.#apiSessions.start(call, found, {
        method: 'cert',
        isCertExtendable,
        improper,
        client,
        authenticatorId: authenticator.id,
      })
    })
  }

  async #attempt(method: Method, call: Call, authenticate: () => Promise<Caller>): Promise<Caller> {
    const { clock, events } = this.#context
    const about = { method, remoteAddress: call.remoteAddress, at: clock.now() }
    try {
      const caller = await authenticate()
      const identityId = caller.identity.id
      events.emit('authentication.attempted', { ...about, success: true, identityId, reason: undefined })
      return caller
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { message: reason, identityId } = error
      events.emit('authentication.attempted', { ...about, success: false, identityId, reason })
      throw new ControllerError('INVALID_AUTH')
    }
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

function isValidAt({ notBefore, notAfter }: CertificateFacts, now: number): boolean {
  return notBefore <= now && now <= notAfter
}
