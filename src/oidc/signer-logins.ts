import { BoundedMap } from '../base/collections.ts'
import { type Call, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { enabledSigners } from '../credentials/external-logins.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { offeredSigners } from '../facts/credentials/signers/offered-signers.rules.ts'
import { authRequests } from '../facts/oidc/auth-request.resource.ts'
import { challengeOf, type SignerLogin } from '../facts/oidc/auth-request.rules.ts'
import {
  authorizationUrl,
  discoveryUrl,
  type ExternalProvider,
  readProvider,
  targetTokenIn,
} from '../facts/oidc/external-provider.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { TokenEndpoints } from '../ports/credentials.ts'
import type { AuthRequest, AuthRequests } from './auth-requests.ts'
import type { LoginStep, RequestLogins } from './request-logins.ts'
import type { RequestTotp } from './request-totp.ts'
import type { ProviderContext } from './token-issue.ts'

/** How long a fetched description is used, and how long a failed fetch is not repeated, in ms. */
const FRESH_MS = 300_000
const RETRY_MS = 5_000
const MAX_REMEMBERED = 200

interface Known {
  readonly provider: Promise<ExternalProvider | undefined>
  readonly askedAt: number
  until: number
}

/** The metadata of external providers, as of a short while ago: each provider is asked once, however many people log in. */
export class KnownProviders {
  readonly #context: Pick<EngineContext, 'clock' | 'keySets'>
  readonly #known = new BoundedMap<string, Known>(MAX_REMEMBERED)

  constructor(context: Pick<EngineContext, 'clock' | 'keySets'>) {
    this.#context = context
  }

  /** The provider at a base URL; `undefined` when it cannot be reached or is invalid. */
  async at(baseUrl: string): Promise<ExternalProvider | undefined> {
    const now = this.#context.clock.now()
    const known = this.#known.get(baseUrl)
    // An answer from the future, got before the clock was put back, counts as old.
    if (known !== undefined && known.askedAt <= now && now < known.until) return known.provider
    const asked: Known = { provider: this.#ask(baseUrl), askedAt: now, until: now + FRESH_MS }
    this.#known.set(baseUrl, asked)
    const provider = await asked.provider
    if (provider === undefined) asked.until = now + RETRY_MS
    return provider
  }

  async #ask(baseUrl: string): Promise<ExternalProvider | undefined> {
    const url = discoveryUrl(baseUrl)
    if (this.#context.keySets.refusal(url) !== undefined) return undefined
    return this.#context.keySets.fetch(url).then(readProvider, () => undefined)
  }
}

type Signer = RecordOf<typeof externalJwtSigners>

/** A signer at which people log in by a browser, with its address and the client id. */
export type BrowserSigner = Signer & { readonly externalAuthUrl: string; readonly clientId: string }

/** The purpose for which proof keys are sealed. */
const PROOF_KEY = 'signer-login'

/** Why a login at a signer failed: it was not begun in this browser, the signer did not answer, or it refused. */
export class SignerLoginRefused extends Error {
  readonly reason: 'not-begun' | 'unreachable' | 'refused'
  /** The signer's name, where one is concerned. */
  readonly signer: string
  /** The auth request on which the login may go on; empty when unknown. */
  readonly requestId: string

  constructor(reason: SignerLoginRefused['reason'], signer = '', requestId = '') {
    super(`the login at a signer failed: ${reason}`)
    this.reason = reason
    this.signer = signer
    this.requestId = requestId
  }
}

/** The parameters that the browser brings back from a signer. */
export interface SignerAnswer {
  readonly state: string
  readonly code: string | undefined
  /** The issuer that answers, where the provider names it (RFC 9207). */
  readonly issuer: string | undefined
  /** The secret that the browser keeps since it was sent. */
  readonly browser: string
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string
}

/**
 * Logins of people at external JWT signers (authorization code with proof key, as a public client). The browser is sent
 * there and brings back a code, for which this process asks the signer for its token. The token is judged like every
 * other of the signer. A signer that is required as second factor proves the identity that logged in before.
 */
export class SignerLogins {
  readonly #context: ProviderContext
  readonly #requests: AuthRequests
  readonly #logins: RequestLogins
  readonly #totp: RequestTotp
  readonly #endpoints: TokenEndpoints
  readonly #providers: KnownProviders

  constructor(
    context: ProviderContext,
    { requests, logins, totp }: { requests: AuthRequests; logins: RequestLogins; totp: RequestTotp },
    endpoints: TokenEndpoints,
  ) {
    this.#context = context
    this.#requests = requests
    this.#logins = logins
    this.#totp = totp
    this.#endpoints = endpoints
    this.#providers = new KnownProviders(context)
  }

  /** The signers that a login page offers, trusted ones first. */
  async offered(): Promise<readonly BrowserSigner[]> {
    const signers = (await enabledSigners(this.#context)).flatMap((signer) => forBrowsers(signer) ?? [])
    return offeredSigners(signers)
  }

  /**
   * Where a browser is sent to log in at a signer. Errors: `UNAUTHORIZED` for an unknown request, {@link SignerLoginRefused}
   * for a signer that is not offered or cannot be reached.
   */
  async begin(id: string, signerId: string, browser: string, redirectUri: string): Promise<string> {
    const { digest, random, sealer } = this.#context
    await this.#requests.get(id)
    const signer = await this.#signer(signerId)
    if (signer === undefined) throw new SignerLoginRefused('refused', '', id)
    const provider = await this.#providerOf(signer, id)
    const verifier = `${random.uuid()}${random.uuid()}`
    const [state, nonce] = [`${id}.${random.uuid()}`, random.uuid()]
    const begun: SignerLogin = {
      signerId,
      stateDigest: digest.sha256(state),
      browserDigest: digest.sha256(browser),
      nonce,
      sealedVerifier: await sealer.seal(verifier, PROOF_KEY),
    }
    await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const request = await this.#requests.find(tx, id)
      if (request !== undefined) await tx.collection(authRequests).update({ ...request, signerLogin: begun })
    })
    const { clientId, scopes } = signer
    const codeChallenge = challengeOf(digest.sha256(verifier))
    return authorizationUrl(provider, { clientId, redirectUri, scopes, state, nonce, codeChallenge })
  }

  /**
   * Takes the parameters that a browser brings back from a signer, once. Errors: {@link SignerLoginRefused}, and those
   * of a login by a token of the signer.
   */
  async finish(call: Call, signerId: string, answer: SignerAnswer): Promise<LoginStep> {
    const { id, begun } = await this.#taken(signerId, answer)
    const signer = await this.#signer(signerId)
    const name = signer?.name ?? ''
    if (signer === undefined || answer.code === undefined) throw new SignerLoginRefused('refused', name, id)
    const provider = await this.#providerOf(signer, id)
    const isOther = answer.issuer !== undefined && answer.issuer !== provider.issuer
    if (isOther) throw new SignerLoginRefused('refused', name, id)
    const token = await this.#tokenFor(answer.code, answer.redirectUri, { signer, provider, begun })
    if (token === undefined) throw new SignerLoginRefused('refused', name, id)
    const { signer: wanted } = await this.#totp.missing(id)
    const proved = { ...call, bearerTokens: [token] }
    if (wanted?.id === signer.id) return this.#logins.prove(proved, id, wanted)
    return this.#logins.logIn(proved, id, { method: 'ext-jwt' }, { csrPem: undefined }, 'browser')
  }

  /** A signer at which people can log in by a browser now. */
  async #signer(id: string): Promise<BrowserSigner | undefined> {
    const signer = await this.#context.storage.read((tx) => tx.collection(externalJwtSigners).get(id))
    return signer?.enabled ? forBrowsers(signer) : undefined
  }

  async #providerOf({ externalAuthUrl, name }: BrowserSigner, requestId: string): Promise<ExternalProvider> {
    const provider = await this.#providers.at(externalAuthUrl)
    if (provider === undefined) throw new SignerLoginRefused('unreachable', name, requestId)
    return provider
  }

  /** Takes a login at a signer, which counts once, and only for the browser and the signer that it was made for. */
  async #taken(
    signerId: string,
    { state, browser }: SignerAnswer,
  ): Promise<{ readonly id: AuthRequest['id']; readonly begun: SignerLogin }> {
    const { digest, writes } = this.#context
    const [id = ''] = state.split('.')
    const [stateDigest, browserDigest] = [digest.sha256(state), digest.sha256(browser)]
    return writes.run(SYSTEM_CALL, async (tx) => {
      const request = await this.#requests.find(tx, id)
      const begun = request?.signerLogin
      const isSame = begun?.stateDigest === stateDigest && begun.browserDigest === browserDigest
      if (!request || !begun || !isSame || begun.signerId !== signerId) throw new SignerLoginRefused('not-begun')
      await tx.collection(authRequests).update({ ...request, signerLogin: null })
      return { id, begun }
    })
  }

  /** The signer's token for a code, verified; `undefined` without a valid token, or for a token of another request. */
  async #tokenFor(
    code: string,
    redirectUri: string,
    { signer, provider, begun }: { signer: BrowserSigner; provider: ExternalProvider; begun: SignerLogin },
  ): Promise<string | undefined> {
    const { clock, externalTokens, sealer } = this.#context
    const form = {
      grant_type: 'authorization_code',
      client_id: signer.clientId,
      code,
      redirect_uri: redirectUri,
      code_verifier: await sealer.open(begun.sealedVerifier, PROOF_KEY),
    }
    const text = await this.#endpoints.post(provider.tokenEndpoint, form).catch(() => '')
    const token = targetTokenIn(text, signer.targetToken)
    if (token === undefined || externalTokens.issuerOf(token) !== signer.issuer) return undefined
    const verdict = await externalTokens.verify(token, signer, clock.now())
    if (verdict.outcome !== 'valid') return undefined
    // Access tokens have no nonce; the proof key binds their code.
    return signer.targetToken === 'ID' && verdict.claims.nonce !== begun.nonce ? undefined : token
  }
}

function forBrowsers(signer: Signer): BrowserSigner | undefined {
  const { externalAuthUrl, clientId } = signer
  return externalAuthUrl && clientId ? { ...signer, externalAuthUrl, clientId } : undefined
}
