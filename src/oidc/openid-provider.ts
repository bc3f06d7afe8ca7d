import { isAdministrator } from '../authority/authority.rules.ts'
import { type ControllerEngine, contextOf } from '../engine/engine.ts'
import { identities } from '../identities/identity.resource.ts'
import type { TokenEndpoints } from '../ports/credentials.ts'
import { AuthRequests } from './auth-requests.ts'
import { BearerSessions } from './bearer-sessions.ts'
import { CodeGrant } from './grants/code-grant.ts'
import { Codes } from './grants/codes.ts'
import { ExchangeGrant } from './grants/exchange-grant.ts'
import { RefreshGrant } from './grants/refresh-grant.ts'
import { RequestLogins } from './request-logins.ts'
import { RequestTotp } from './request-totp.ts'
import { SessionEnd } from './session-end.ts'
import { SignerLogins } from './signer-logins.ts'
import { type ProviderContext, type ProviderSettings, TokenIssue } from './token-issue.ts'

/**
 * An OpenID provider for the identities of the network: people, devices and workloads log in to it and get tokens, by which
 * the two APIs and the edge routers know them.
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

/** Who holds an access token; `undefined` when it is not good. Name and rights need the scope `openid`. */
export async function userInfo(
  context: Pick<ProviderContext, 'storage'>,
  sessions: BearerSessions,
  accessToken: string,
): Promise<UserInfo | undefined> {
  const token = await sessions.read(accessToken)
  const sub = token?.session.sub
  const identity = sub && (await context.storage.read((tx) => tx.collection(identities).get(sub)))
  if (!token || !identity) return undefined
  if (!token.session.scopes?.includes('openid')) return { sub: identity.id }
  const { id, name, externalId } = identity
  return { sub: id, name, z_ia: isAdministrator(identity), ...(externalId && { z_eid: externalId }) }
}
