import type { TokenEndpoints } from '../../ports/key-sets.ts'
import { type ControllerEngine, contextOf } from '../engine.ts'
import { BearerSessions } from './bearer-sessions.ts'
import { CodeGrant } from './grants/code-grant.ts'
import { ExchangeGrant } from './grants/exchange-grant.ts'
import { RefreshGrant } from './grants/refresh-grant.ts'
import { AuthRequests } from './requests/auth-requests.ts'
import { Codes } from './requests/codes.ts'
import { RequestLogins } from './requests/request-logins.ts'
import { RequestTotp } from './requests/request-totp.ts'
import { SessionEnd } from './session-end.ts'
import { SignerLogins } from './signers/signer-logins.ts'
import type { ProviderContext, ProviderSettings } from './tokens/provider-context.ts'
import { TokenIssue } from './tokens/token-issue.ts'

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
