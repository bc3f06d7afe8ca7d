import { jsonBytes } from '../base/bytes.ts'
import { ControllerError, TokenRefused } from '../base/errors.ts'
import { tooLarge } from '../base/limits.ts'
import { type Call, type MissingFactors, redeemed } from '../context/call.ts'
import { signerProof } from '../credentials/external-logins.ts'
import { requireBasis, signerProofOf } from '../credentials/login-basis.ts'
import { isDisabled } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import type { SignerProof } from '../facts/credentials/login-basis.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { authRequests } from '../facts/oidc/auth-request.resource.ts'
import { nextLogin, type RequestLogin } from '../facts/oidc/auth-request.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { ClientInfo, Start } from '../login/api-session-start.ts'
import { Authentication } from '../login/authentication.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { AuthRequest, AuthRequests } from './auth-requests.ts'
import { missingOfRequest, policyOf } from './request-totp.ts'
import type { ProviderContext } from './token-issue.ts'

/** The facts that a client sends with its credentials. */
export interface LoginClient extends ClientInfo {
  /** A signing request for a certificate of the session; judged when the code is exchanged. */
  readonly csrPem: string | undefined
}

/** Credentials of one of the three kinds; those of a certificate or an external signer are the connection's. */
export type LoginCredentials =
  | { readonly method: 'password'; readonly username: string; readonly password: string }
  | { readonly method: 'cert' | 'ext-jwt' }

/** A step of a login: the request as it is now, and the factors that are still to be proved. */
export interface LoginStep {
  readonly request: AuthRequest
  readonly missing: MissingFactors
}

/**
 * The party that takes the steps: a program, which goes on with the id that it began with, or a browser. An attacker who knows the id may
 * send a person to the page and wait for the login, so a login in a browser goes on under another id.
 */
export type LoginThrough = 'program' | 'browser'

const MAX_OF_IDENTITY = 50

interface Holder {
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
}

/**
 * The first step of a login: the identity. Credentials are judged exactly as for other API sessions, with their limits
 * and lockouts. Earlier proofs on the request count on for the same identity alone.
 */
export class RequestLogins {
  readonly #context: ProviderContext
  readonly #requests: AuthRequests

  constructor(context: ProviderContext, requests: AuthRequests) {
    this.#context = context
    this.#requests = requests
  }

  /**
   * Logs an identity in on an auth request and answers the factors that are still to be proved. A failed login leaves the request usable.
   * Errors: `UNAUTHORIZED` for an unknown request, before anything else is judged, and those of {@link Authentication}.
   */
  async logIn(
    call: Call,
    id: string,
    credentials: LoginCredentials,
    client: LoginClient,
    through: LoginThrough,
  ): Promise<LoginStep> {
    const request = await this.#requests.get(id)
    const authentication = new Authentication(this.#context, (_call, who, start) =>
      this.#enter(call, request, who, start, { ...client, through }),
    )
    const step = await this.#authenticate(authentication, call, credentials, client)
    this.#requests.noteLogin(id, step.request)
    return step
  }

  /**
   * Proves the factor of a signer by a token of the identity that logged in on the request before, in a browser.
   * Errors: `UNAUTHORIZED` before a login, and for a token that proves nothing.
   */
  async prove(call: Call, id: string, signer: RecordOf<typeof externalJwtSigners>): Promise<LoginStep> {
    const { login } = await this.#requests.get(id)
    const identity =
      login && (await this.#context.storage.read((tx) => tx.collection(identities).get(login.identityId)))
    if (!identity) throw new ControllerError('UNAUTHORIZED')
    const proof = await signerProof(this.#context, signer, identity, call.bearerTokens ?? [])
    if (proof !== 'proven') throw new TokenRefused('secondary', proof, [signer])
    const step = await this.#context.writes.run(redeemed(call), async (tx) => {
      const request = await this.#requests.find(tx, id)
      const authPolicy = await policyOf(tx, identity.id)
      // Another identity may have logged in meanwhile: this token is not its proof.
      if (request?.login?.identityId !== identity.id || !authPolicy) throw new ControllerError('UNAUTHORIZED')
      const proven = { ...request.login, provenSigner: signerProofOf(this.#context, signer, identity) }
      const moved = await this.#requests.moved(tx, { ...request, login: proven })
      return { request: moved, missing: await missingOfRequest(this.#context, tx, proven, authPolicy) }
    })
    this.#requests.noteLogin(id, step.request)
    return step
  }

  #authenticate(
    authentication: Authentication<LoginStep>,
    call: Call,
    credentials: LoginCredentials,
    client: LoginClient,
  ): Promise<LoginStep> {
    switch (credentials.method) {
      case 'password':
        return authentication.byPassword(call, credentials.username, credentials.password, client)
      case 'cert':
        return authentication.byCertificate(call, client)
      case 'ext-jwt':
        return authentication.byExternalJwt(call, client)
    }
  }

  async #enter(
    call: Call,
    { id }: AuthRequest,
    who: Holder,
    start: Start,
    { through, ...client }: LoginClient & { readonly through: LoginThrough },
  ): Promise<LoginStep> {
    const now = this.#context.clock.now()
    const signer = await this.#requiredSigner(who)
    const proof = signer && (await signerProof(this.#context, signer, who.identity, call.bearerTokens ?? []))
    const login = loginOf(
      who,
      start,
      client,
      now,
      proof === 'proven' && signer ? signerProofOf(this.#context, signer, who.identity) : null,
    )
    const { request: entered, missing } = await this.#context.writes.run(redeemed(call), async (tx) => {
      const request = await this.#requests.find(tx, id)
      if (request === undefined) throw new ControllerError('UNAUTHORIZED')
      const current = await tx.collection(identities).get(who.identity.id)
      if (current === undefined || isDisabled(current, now)) throw new ControllerError('INVALID_AUTH')
      const authPolicy = await tx.collection(authPolicies).get(current.authPolicyId)
      if (authPolicy === undefined) throw new ControllerError('INVALID_AUTH')
      await requireBasis(this.#context, tx, start, current, authPolicy, now)
      await start.confirm?.(tx)
      const envInfo = knownInfo(client.envInfo) ?? current.envInfo
      const sdkInfo = knownInfo(client.sdkInfo) ?? current.sdkInfo
      await tx.collection(identities).update({ ...current, envInfo, sdkInfo })
      const next = nextLogin(request.login, login)
      const changed = { ...request, identityId: current.id, login: next, codeDigests: [], updatedAt: now }
      await keepLoginQuota(tx, changed, this.#context.settings.limits.loginBytesPerIdentity)
      await tx.collection(authRequests).update(changed)
      const entered = through === 'browser' ? await this.#requests.moved(tx, changed) : changed
      return { request: entered, missing: await missingOfRequest(this.#context, tx, next, authPolicy) }
    })
    const isProblem = missing.signer !== undefined && proof !== undefined && proof !== 'proven'
    return { request: entered, missing: isProblem ? { ...missing, signerProblem: proof } : missing }
  }

  async #requiredSigner({ authPolicy }: Holder): Promise<RecordOf<typeof externalJwtSigners> | undefined> {
    const id = authPolicy.secondary.requireExtJwtSigner
    return id ? this.#context.storage.read((tx) => tx.collection(externalJwtSigners).get(id)) : undefined
  }
}

/**
 * Keeps the logins under way of an identity within their number and their bytes: the oldest go for a new one. Error:
 * `COULD_NOT_VALIDATE` for a login that exceeds the limit alone.
 */
async function keepLoginQuota(tx: WriteTransaction, entered: AuthRequest, most: number): Promise<void> {
  const size = jsonBytes(entered)
  if (size > most) throw tooLarge('body', `${size} bytes`, most, 'loginBytesPerIdentity')
  const { items } = await tx.collection(authRequests).find({ where: equals('identityId', entered.identityId) })
  const newestFirst = items.filter(({ id }) => id !== entered.id).sort((a, b) => b.createdAt - a.createdAt)
  let bytes = size
  for (const [position, other] of newestFirst.entries()) {
    bytes += jsonBytes(other)
    const isKept = position + 1 < MAX_OF_IDENTITY && bytes <= most
    if (!isKept) await tx.collection(authRequests).delete(other.id)
  }
}

/** Keeps the facts that a client sends of itself; empty and missing fields of a form count as absent. */
export function knownInfo<T extends object>(info: T | null | undefined): T | undefined {
  return info != null && Object.keys(info).length > 0 ? info : undefined
}

function loginOf(
  { identity, authPolicy }: Holder,
  start: Start,
  { configTypes = [], envInfo, sdkInfo, csrPem }: LoginClient,
  at: number,
  provenSigner: SignerProof | null,
): RequestLogin {
  const {
    method,
    authenticatorId,
    trustAnchorId,
    basis,
    claimed,
    fingerprint = null,
    isCertExtendable = false,
    improper = false,
  } = start
  return {
    identityId: identity.id,
    method,
    methods: [method],
    authenticatorId,
    trustAnchorId,
    basis,
    claimed,
    at,
    fingerprint,
    mayHaveExpired: method === 'cert' && authPolicy.primary.cert.allowExpiredCerts,
    isCertExtendable,
    isExtendRequested: start.isExtendRequested ?? false,
    isKeyRollRequested: start.isKeyRollRequested ?? false,
    improper,
    configTypes,
    envInfo: envInfo ?? null,
    sdkInfo: sdkInfo ?? null,
    csrPem: csrPem ?? null,
    hasPassedTotp: false,
    provenSigner,
  }
}
