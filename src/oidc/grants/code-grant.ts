import { ControllerError } from '../../base/errors.ts'
import type { Call, Caller } from '../../context/call.ts'
import { isAdministrator } from '../../facts/authority/authority.rules.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { authRequests } from '../../facts/oidc/auth-request.resource.ts'
import { isVerified, methodsOf, type RequestLogin } from '../../facts/oidc/auth-request.rules.ts'
import { invalidGrant, invalidRequest } from '../../facts/oidc/oauth-error.rules.ts'
import type { SessionClaims } from '../../facts/oidc/token-claims.rules.ts'
import type { ApiSessions } from '../../login/api-sessions.ts'
import { requireRevocationQuota } from '../../login/revocations.ts'
import type { WriteTransaction } from '../../ports/record-storage.ts'
import { type AuthRequest, type AuthRequests, isRedirectUri } from '../auth-requests.ts'
import { issueSessionCertificate } from '../proof-of-possession.ts'
import { knownInfo } from '../request-logins.ts'
import { isComplete, missingOfRequest, policyOf } from '../request-totp.ts'
import type { ProviderContext, TokenIssue, TokenResponse } from '../token-issue.ts'
import type { Codes } from './codes.ts'

/** A request of a client to exchange a code. */
export interface CodeRequest {
  readonly issuer: string
  readonly clientId: string
  readonly code: string | undefined
  readonly codeVerifier: string | undefined
  readonly redirectUri: string | undefined
}

/** A login whose code was exchanged, with its identity. */
type Completed = AuthRequest & { readonly login: RequestLogin }

/**
 * Exchanges authorization codes (RFC 6749 section 4.1.3, RFC 7636): each attempt at a code uses it up, valid or not. A code that comes
 * again is in the wrong hands, or was at first: the session that it was exchanged for ends (section 4.1.2).
 */
export class CodeGrant {
  readonly #context: ProviderContext
  readonly #requests: AuthRequests
  readonly #codes: Codes
  readonly #apiSessions: ApiSessions
  readonly #issue: TokenIssue

  constructor(
    context: ProviderContext,
    requests: AuthRequests,
    codes: Codes,
    apiSessions: ApiSessions,
    issue: TokenIssue,
  ) {
    this.#context = context
    this.#requests = requests
    this.#codes = codes
    this.#apiSessions = apiSessions
    this.#issue = issue
  }

  /**
   * Begins the API session of a login, and issues its tokens. Of all attempts with one code, in all processes, at most one succeeds.
   * Errors: `invalid_request` for a missing parameter or a signing request that cannot be processed, `invalid_grant` for anything else.
   */
  async exchange(call: Call, asked: CodeRequest): Promise<TokenResponse> {
    if (!asked.code) throw invalidRequest('code missing')
    if (!asked.redirectUri) throw invalidRequest('redirect_uri missing')
    if (!asked.codeVerifier) throw invalidRequest('code_verifier required')
    const found = await this.#codes.requestOf(asked.code)
    try {
      const completed = this.#judge(found, asked.clientId, asked.redirectUri, asked.codeVerifier)
      // The settings may have changed since the browser was sent there.
      const isSentThere = await isRedirectUri(this.#context, completed.request.redirectUri)
      if (!isSentThere) throw invalidGrant('redirect_uri is not one of the client any more')
      return await this.#redeem(call, completed, asked)
    } catch (error) {
      await this.#codes.burn(asked.code, found)
      throw error
    }
  }

  #judge(found: AuthRequest | undefined, clientId: string, redirectUri: string, verifier: string): Completed {
    if (found === undefined || found.login === null) throw invalidGrant('invalid code')
    const { login, request } = found
    if (request.clientId !== clientId) throw invalidGrant('client_id does not correspond')
    if (request.redirectUri !== redirectUri) throw invalidGrant('redirect_uri does not correspond')
    const isRight = isVerified(request.codeChallenge, this.#context.digest.sha256(verifier))
    if (!isRight) throw invalidGrant('invalid code_verifier')
    return { ...found, login }
  }

  async #redeem(call: Call, found: Completed, { issuer, clientId, code = '' }: CodeRequest): Promise<TokenResponse> {
    const { random } = this.#context
    const { login, request } = found
    const apiSessionId = this.#codes.sessionIdOf(code)
    const certificate =
      login.csrPem === null
        ? undefined
        : await issueSessionCertificate(this.#context, login.identityId, apiSessionId, login.csrPem)
    const jti = request.scopes.includes('offline_access') ? random.uuid() : undefined
    const { apiSession, identity } = await this.#begin(call, found, apiSessionId, jti)
    const bound = [login.fingerprint, certificate?.fingerprint].filter((one) => one != null)
    const session: SessionClaims = {
      sub: identity.id,
      amr: methodsOf(login),
      auth_time: Math.floor(login.at / 1000),
      ...(request.scopes.length > 0 && { scopes: request.scopes }),
      z_aid: request.clientId,
      z_asid: apiSessionId,
      z_authid: login.authenticatorId,
      ...(isAdministrator(identity) && { z_ia: true }),
      ...(identity.externalId && { z_eid: identity.externalId }),
      ...(apiSession.configTypes.length > 0 && { z_ct: apiSession.configTypes }),
      z_cfs: bound.length === 0 ? null : bound,
      ...(login.fingerprint !== null && { z_acf: login.fingerprint }),
      z_sdk: login.sdkInfo,
      z_env: login.envInfo,
      z_ra: request.remoteAddress,
      z_ice: login.isCertExtendable,
      z_cer: login.isExtendRequested,
      z_ckrr: login.isKeyRollRequested,
      z_iccc: login.improper,
      ...(login.mayHaveExpired && { z_cae: true }),
    }
    const to = { issuer, clientId, audience: [request.clientId] }
    const access = await this.#issue.access(session, to)
    const nonce = request.nonce ?? undefined
    return {
      access_token: access.text,
      token_type: 'Bearer',
      ...(jti !== undefined && { refresh_token: (await this.#issue.refresh(session, jti, to)).text }),
      expires_in: Math.floor((access.expiresAt - this.#context.clock.now()) / 1000),
      id_token: await this.#issue.id(session, { name: identity.name, nonce, accessToken: access.text, code }, to),
      ...(request.scopes.length > 0 && { scope: request.scopes.join(' ') }),
      ...(certificate !== undefined && { session_cert: certificate.chainPem }),
    }
  }

  /** Uses the code up and begins the session in one write, which judges everything once more. */
  async #begin(call: Call, found: Completed, id: string, jti: string | undefined): Promise<Caller> {
    const { login, request } = found
    const identity = await this.#context.storage.read((tx) => tx.collection(identities).get(login.identityId))
    if (identity === undefined) throw invalidGrant('invalid code')
    try {
      return await this.#apiSessions.start(
        { ...call, remoteAddress: request.remoteAddress },
        { identity },
        {
          method: login.method,
          authenticatorId: login.authenticatorId,
          trustAnchorId: login.trustAnchorId,
          basis: login.basis,
          claimed: login.claimed,
          signerProof: login.provenSigner,
          isCertExtendable: login.isCertExtendable,
          improper: login.improper,
          client: {
            configTypes: [...new Set([...request.configTypes, ...login.configTypes])],
            envInfo: undefined,
            sdkInfo: knownInfo(login.sdkInfo),
          },
          tokens: {
            id,
            tokensExpireAt: this.#issue.lastExpiry(jti !== undefined),
            refreshTokens: jti === undefined ? [] : [{ jti }],
            hasPassedTotp: login.hasPassedTotp,
          },
          confirm: (tx) => this.#confirm(tx, found),
        },
      )
    } catch (error) {
      // The identity was deleted or disabled since, or its credentials are not accepted any more.
      if (error instanceof ControllerError && error.code === 'INVALID_AUTH') throw invalidGrant('invalid code')
      throw error
    }
  }

  async #confirm(tx: WriteTransaction, { id, login }: Completed): Promise<void> {
    await requireRevocationQuota(this.#context, tx, login.identityId)
    const current = await this.#requests.find(tx, id)
    const authPolicy = await policyOf(tx, login.identityId)
    const isSame = current?.login?.identityId === login.identityId && current.codeDigests.length > 0
    const isGood =
      isSame &&
      authPolicy !== undefined &&
      isComplete(await missingOfRequest(this.#context, tx, current.login, authPolicy))
    if (!isGood || !(await tx.collection(authRequests).delete(id))) throw invalidGrant('invalid code')
  }
}
