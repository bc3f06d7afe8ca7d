import { authorizeQuery, CALLBACK, type ProofKey, proofKey } from '../support/openid.ts'
import { totp } from '../support/totp.ts'
import type { Answered, Asking, Process } from './two-processes.ts'
import { type Network, PASSWORD, type Subject, signedBy } from './ways.ts'

const CLIENT_API = '/edge/client/v1'

/** A login by OpenID Connect that is under way. */
export interface Begun {
  readonly id: string
  readonly key: ProofKey
}

export interface Tokens {
  readonly access: string
  readonly refresh: string
  readonly id: string
  /** By which they were given out. */
  readonly code: string
  readonly begun: Begun
}

type Given = Pick<Tokens, 'access' | 'refresh' | 'id'>

/** Logs in the way of a subject, at whichever process, step by step. Refusals are answered as undefined. */
export class Logins {
  readonly #network: Network
  readonly #now: () => number
  readonly subject: Subject
  /** The groups in its tokens of the signer. */
  groups: readonly string[]

  constructor(network: Network, subject: Subject, now: () => number) {
    this.#network = network
    this.#now = now
    this.subject = subject
    this.groups = [subject.way]
  }

  code(): string {
    return totp(this.subject.secret ?? '', this.#now())
  }

  /** Credentials that accompany every request of the subject: its certificate, and the token of a signer that its policy demands. */
  async beside(access?: string): Promise<Pick<Asking, 'certificate' | 'bearers'>> {
    const { way, certificate } = this.subject
    const proof = way === 'signed' ? [await signedBy(this.#network.second, 'signed@example', this.#now())] : []
    return { certificate, bearers: [...(access === undefined ? [] : [access]), ...proof] }
  }

  /** The first factor at the ordinary login; the token of the session. */
  async first(at: Process): Promise<string | undefined> {
    const { way, username, certificate } = this.subject
    const method = way === 'cert' || way === 'ca' || way === 'claim' ? 'cert' : way === 'jwt' ? 'ext-jwt' : 'password'
    const json = method === 'password' ? { username, password: PASSWORD } : {}
    const bearers = method === 'ext-jwt' ? [await this.#jwt()] : []
    const { body } = await at.ask('POST', `${CLIENT_API}/authenticate?method=${method}`, { json, certificate, bearers })
    return body.data?.token
  }

  /** Proves the second factor, where the way has one that is proved once. */
  async second(at: Process, zt: string): Promise<boolean> {
    if (this.subject.way !== 'totp') return true
    const json = { code: this.code() }
    return (await at.ask('POST', `${CLIENT_API}/authenticate/mfa`, { zt, json })).status === 200
  }

  async session(at: Process): Promise<string | undefined> {
    const zt = await this.first(at)
    if (zt !== undefined) await this.second(at, zt)
    return zt
  }

  async begin(at: Process): Promise<Begun> {
    const key = proofKey()
    const { body } = await at.ask('GET', `/oidc/authorize?${authorizeQuery(key)}`)
    return { id: paramIn(body.location, 'authRequestID'), key }
  }

  /** The first factor of a login that is under way, with the token of a signer that goes with it. */
  async passFirst(at: Process, { id }: Begun): Promise<boolean> {
    const { way, username, certificate } = this.subject
    const step = way === 'cert' || way === 'ca' || way === 'claim' ? 'cert' : way === 'jwt' ? 'ext-jwt' : 'password'
    const form = step === 'password' ? { id, username, password: PASSWORD } : { id }
    const bearers = step === 'ext-jwt' ? [await this.#jwt()] : ((await this.beside()).bearers ?? [])
    return isTaken(await at.ask('POST', `/oidc/login/${step}`, { form: { ...form }, certificate, bearers }))
  }

  /** The second factor of it, where that is a step of its own. */
  async passSecond(at: Process, { id }: Begun): Promise<boolean> {
    if (this.subject.way !== 'totp') return true
    return isTaken(await at.ask('POST', '/oidc/login/totp', { form: { id, code: this.code() } }))
  }

  async codeOf(at: Process, { id }: Begun): Promise<string | undefined> {
    const { body } = await at.ask('GET', `/oidc/authorize/callback?id=${id}`)
    return body.location === undefined ? undefined : paramIn(body.location, 'code') || undefined
  }

  async redeem(at: Process, code: string, begun: Begun): Promise<Tokens | undefined> {
    const form = { grant_type: 'authorization_code', client_id: 'openziti', redirect_uri: CALLBACK }
    const { certificate } = this.subject
    const all = { ...form, code, code_verifier: begun.key.verifier }
    const tokens = tokensIn(await at.ask('POST', '/oidc/oauth/token', { form: all, certificate }))
    return tokens && { ...tokens, code, begun }
  }

  async refresh(at: Process, refresh: string): Promise<Given | undefined> {
    const form = { grant_type: 'refresh_token', client_id: 'openziti', refresh_token: refresh }
    const { certificate } = this.subject
    return tokensIn(await at.ask('POST', '/oidc/oauth/token', { form, certificate }))
  }

  /** Exchanges an access token for another one. */
  async exchange(at: Process, access: string): Promise<Given | undefined> {
    const type = 'urn:ietf:params:oauth:token-type:access_token'
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id: 'openziti',
      subject_token: access,
      subject_token_type: type,
      requested_token_type: type,
    }
    const { certificate } = this.subject
    return tokensIn(await at.ask('POST', '/oidc/oauth/token', { form, certificate }))
  }

  /** Everything from the first step to tokens. */
  async tokens(at: Process): Promise<Tokens | undefined> {
    const begun = await this.begin(at)
    if (!(await this.passFirst(at, begun))) return undefined
    await this.passSecond(at, begun)
    const code = await this.codeOf(at, begun)
    return code === undefined ? undefined : this.redeem(at, code, begun)
  }

  #jwt(): Promise<string> {
    return signedBy(this.#network.signer, 'jwt@example', this.#now(), { groups: this.groups })
  }
}

const isTaken = ({ status }: Answered) => status < 400

function tokensIn({ status, body }: Answered): Given | undefined {
  return status === 200 ? { access: body.access_token, refresh: body.refresh_token, id: body.id_token } : undefined
}

function paramIn(location: string, name: string): string {
  return new URL(location, 'https://any').searchParams.get(name) ?? ''
}
