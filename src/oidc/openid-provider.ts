import { type Caller, SYSTEM_CALL } from '../context/call.ts'
import { isMissingBetweenRequests } from '../credentials/api-session-validity.ts'
import { judgeToken } from '../credentials/signing-keys.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import { isAdministrator, withRightsAt } from '../facts/authority/authority.rules.ts'
import { textClaim } from '../facts/credentials/signers/claims.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { ReadToken } from '../facts/oidc/token-claims.rules.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import { isTakenBack, type Revocations } from '../login/revocations.ts'
import type { TokenEndpoints } from '../ports/credentials.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { deleteBatch, endReasonsOf } from '../records/deletion.ts'
import { type WriteBatch, writeInBatches } from '../records/write-batches.ts'
import { AuthRequests } from './auth-requests.ts'
import { CodeGrant } from './grants/code-grant.ts'
import { Codes } from './grants/codes.ts'
import { ExchangeGrant } from './grants/exchange-grant.ts'
import { RefreshGrant } from './grants/refresh-grant.ts'
import { holdsKey } from './proof-of-possession.ts'
import { RequestLogins } from './request-logins.ts'
import { RequestTotp } from './request-totp.ts'
import { SignerLogins } from './signer-logins.ts'
import { type ProviderContext, type ProviderSettings, TokenIssue } from './token-issue.ts'
import { judgePresented, VerifiedTokens } from './token-sessions.ts'

/**
 * An OpenID provider for the identities of the network: people, devices and workloads log in to it and get tokens, by which
 * the APIs and the edge routers know them.
 */
export class OpenIdProvider {
  readonly context: ProviderContext
  readonly requests: AuthRequests
  readonly logins: RequestLogins
  readonly totp: RequestTotp
  readonly signerLogins: SignerLogins
  readonly codes: Codes
  readonly codeGrant: CodeGrant
  readonly refreshGrant: RefreshGrant
  readonly exchangeGrant: ExchangeGrant
  readonly bearerSessions: BearerSessions
  readonly sessionEnd: SessionEnd

  constructor(engine: ControllerEngine, settings: ProviderSettings, endpoints: TokenEndpoints) {
    const context = { ...contextOf(engine), provider: settings }
    const issue = new TokenIssue(context)
    this.context = context
    this.requests = new AuthRequests(context)
    this.logins = new RequestLogins(context, this.requests)
    this.totp = new RequestTotp(context, this.requests)
    this.signerLogins = new SignerLogins(context, this, endpoints)
    this.codes = new Codes(context, this.requests)
    this.codeGrant = new CodeGrant(context, this.requests, this.codes, engine.apiSessions, issue)
    this.refreshGrant = new RefreshGrant(context, issue)
    this.exchangeGrant = new ExchangeGrant(context, issue)
    this.bearerSessions = new BearerSessions(context, engine.apiSessions)
    this.sessionEnd = new SessionEnd(context, engine.revocations)
    context.timetable.onDue('auth-request', (ids) => this.requests.endExpired(ids))
  }
}

/** The facts that the holder of an access token may know of its identity. */
export interface UserInfo {
  readonly sub: string
  readonly name?: string
  readonly z_ia?: boolean
  readonly z_eid?: string
}

/** The claims of an access token's holder; `undefined` for an invalid token. Name and rights need the scope `openid`. */
export async function userInfo(
  context: ProviderContext,
  sessions: BearerSessions,
  accessToken: string,
): Promise<UserInfo | undefined> {
  const token = await sessions.read(accessToken)
  const sub = token?.session.sub
  const identity = sub && (await context.storage.read((tx) => tx.collection(identities).get(sub)))
  if (!token || !identity) return undefined
  if (!token.session.scopes?.includes('openid')) return { sub: identity.id }
  const { id, name, externalId } = identity
  const isAdmin = isAdministrator(withRightsAt(identity, context.clock.now()))
  return { sub: id, name, z_ia: isAdmin, ...(externalId && { z_eid: externalId }) }
}

/** Why a request has no valid access token among its bearer tokens. */
type BearerProblem = 'missing' | 'invalid' | 'expired'

interface AccessToken {
  readonly text: string
  readonly read: ReadToken
}

/** Finds the caller of an access token (RFC 6750), which takes the place of the secret of an API session. */
class BearerSessions {
  readonly #context: ProviderContext
  readonly #apiSessions: ApiSessions
  readonly #verified = new VerifiedTokens()

  constructor(context: ProviderContext, apiSessions: ApiSessions) {
    this.#context = context
    this.#apiSessions = apiSessions
  }

  /**
   * The caller whose access token is among the bearer tokens of a request, or the problem with them. The other tokens
   * may prove a second factor. A revoked token, an ended session or a disabled identity counts from the next request
   * on, in every process: each request reads these facts anew.
   */
  async resolve(tokens: readonly string[], clientCertificates: readonly Uint8Array[]): Promise<Caller | BearerProblem> {
    const found = await this.#accessToken(tokens)
    if (typeof found === 'string') return found
    const caller = await this.#callerBy(found, tokens, clientCertificates)
    if (caller === undefined) this.#verified.delete(this.#digestOf(found.text))
    return caller ?? 'invalid'
  }

  /**
   * Reads a valid access token, wherever it is presented; `undefined` for any other, and while its session lacks a
   * factor. A signer that was proved in the login counts, because no other token is sent here.
   */
  async read(text: string): Promise<ReadToken | undefined> {
    const found = await this.#accessToken([text])
    if (typeof found === 'string') return undefined
    const caller = await this.#callerOf(found, [])
    if (caller === undefined) return undefined
    const isMissing = await this.#context.storage.read((tx) =>
      isMissingBetweenRequests(this.#context, tx, caller.apiSession, caller),
    )
    return isMissing ? undefined : found.read
  }

  async #callerBy(
    found: AccessToken,
    tokens: readonly string[],
    clientCertificates: readonly Uint8Array[],
  ): Promise<Caller | undefined> {
    if (!(await holdsKey(this.#context, found.read, clientCertificates))) return undefined
    return this.#callerOf(
      found,
      tokens.filter((token) => token !== found.text),
    )
  }

  #callerOf({ text, read }: AccessToken, others: readonly string[]): Promise<Caller | undefined> {
    const isGood = async (tx: ReadTransaction) => !(await isTakenBack(tx, read, this.#context.clock.now()))
    return this.#apiSessions.resolveToken(read, text, others, isGood)
  }

  async #accessToken(tokens: readonly string[]): Promise<AccessToken | BearerProblem> {
    const now = this.#context.clock.now()
    let problem: BearerProblem = 'missing'
    for (const text of tokens) {
      const digest = this.#digestOf(text)
      const known = this.#verified.get(digest, now)
      if (known !== undefined) return { text, read: known }
      const presented = await judgePresented(this.#context, text, now)
      if (presented.outcome === 'invalid' || presented.outcome === 'expired') problem = presented.outcome
      if (presented.outcome !== 'valid' || presented.token.type !== 'a') continue
      this.#verified.add(digest, presented.token)
      return { text, read: presented.token }
    }
    return problem
  }

  #digestOf(token: string): string {
    return this.#context.digest.sha256(token)
  }
}

/** Revokes tokens and ends sessions, on behalf of the holder of one of their tokens. */
class SessionEnd {
  readonly #context: ProviderContext
  readonly #revocations: Revocations

  constructor(context: ProviderContext, revocations: Revocations) {
    this.#context = context
    this.#revocations = revocations
  }

  /**
   * Revokes a token (RFC 7009): an access token by itself, a refresh token with its whole session, and so an access
   * token after many others of the session. Any other text, and a second revocation, changes nothing.
   */
  async revoke(text: string): Promise<void> {
    const presented = await judgePresented(this.#context, text, this.#context.clock.now())
    if (presented.outcome !== 'valid') return
    const { type, jti, expiresAt, session } = presented.token
    const isEnough = type === 'a' && (await this.#revocations.revokeToken(session.z_asid, jti, expiresAt * 1000))
    if (!isEnough) await this.#end(session.z_asid)
  }

  /** Reports whether a text is an id token, or another token of a session, of this provider; it may have expired since. */
  async isOurs(text: string): Promise<boolean> {
    return (await this.#sessionOf(text)) !== undefined
  }

  /** Ends the session of a token, even of an expired one. Any other text changes nothing. */
  async endByHint(text: string): Promise<void> {
    const id = await this.#sessionOf(text)
    if (id !== undefined) await this.#end(id)
  }

  async #sessionOf(text: string): Promise<string | undefined> {
    const judgement = await judgeToken(this.#context, text, this.#context.clock.now())
    if (judgement.outcome !== 'valid' && judgement.outcome !== 'expired') return undefined
    const { claims } = judgement
    const isOurs = this.#context.provider.issuers.includes(textClaim(claims, 'iss') ?? '')
    return isOurs ? textClaim(claims, 'z_asid') : undefined
  }

  async #end(id: string): Promise<void> {
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const session = await tx.collection(apiSessions).get(id)
      return session?.tokensExpireAt == null ? undefined : deleteBatch(tx, apiSessions, id, batch)
    }
    await writeInBatches(this.#context, SYSTEM_CALL, work, endReasonsOf(apiSessions))
  }
}
