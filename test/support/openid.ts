import { createHash, randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { TEST_ADMIN } from 'portcullis/testing'
import { expect } from 'vitest'
import type { ClientCertificate, MountedController, RawRequest } from '../contract/http/mount.ts'

export const CALLBACK = 'http://localhost:8080/auth/callback'
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A controller that somehow answers. */
type Reached = Pick<MountedController, 'fetch'>

/** Parameters by name; what is undefined is not sent. */
export type Parameters = Readonly<Record<string, string | undefined>>

/** The answer of the token endpoint. */
export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly [member: string]: unknown
}

/** A proof key: what is sent first, and what is sent for the code. */
export interface ProofKey {
  readonly verifier: string
  readonly challenge: string
}

export function proofKey(): ProofKey {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The body or query of parameters. */
export function encoded(parameters: Parameters): string {
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(sent).toString()
}

/** The parameters of a login that goes well, with changes. */
export function authorizeQuery({ challenge }: ProofKey, change: Parameters = {}): string {
  return encoded({
    client_id: 'openziti',
    response_type: 'code',
    scope: 'openid offline_access',
    redirect_uri: CALLBACK,
    state: 'state 1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...change,
  })
}

/** Sends a form. */
export function postForm(
  mounted: Reached,
  path: string,
  parameters: Parameters,
  headers: Readonly<Record<string, string>> = {},
  client?: ClientCertificate,
): Promise<Response> {
  const request: RawRequest = { method: 'POST', headers: { ...FORM, ...headers }, body: encoded(parameters) }
  return mounted.fetch(path, request, client)
}

/** Begins a login and answers the id of its request. */
export async function begin(mounted: Reached, key: ProofKey, change?: Parameters): Promise<string> {
  const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(key, change)}`)
  expect(response.status).toBe(302)
  return idIn(response)
}

/** The id of the auth request that an answer of `/authorize` leads to. */
function idIn(response: Response): string {
  const location = new URL(response.headers.get('location') ?? '', 'https://any')
  return location.searchParams.get('authRequestID') ?? ''
}

/** Fetches the callback of a request and answers the parameters that the client is given. */
export async function callback(mounted: Reached, id: string): Promise<URLSearchParams> {
  const response = await mounted.fetch(`/oidc/authorize/callback?id=${id}`)
  expect(response.status).toBe(302)
  return new URL(response.headers.get('location') ?? '').searchParams
}

/** Exchanges a code. */
export function exchangeCode(
  mounted: Reached,
  code: string,
  { verifier }: ProofKey,
  change: Parameters = {},
): Promise<Response> {
  return postForm(mounted, '/oidc/oauth/token', {
    grant_type: 'authorization_code',
    client_id: 'openziti',
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
    ...change,
  })
}

/** Presents a refresh token. */
export function refresh(
  mounted: Reached,
  token: string,
  change: Parameters = {},
  client?: ClientCertificate,
): Promise<Response> {
  const parameters = { grant_type: 'refresh_token', client_id: 'openziti', refresh_token: token, ...change }
  return postForm(mounted, '/oidc/oauth/token', parameters, {}, client)
}

const TYPE = 'urn:ietf:params:oauth:token-type:'

/** Exchanges a token of a kind for another one. */
export function exchange(
  mounted: Reached,
  token: string,
  kind: 'access_token' | 'refresh_token' | 'id_token',
  wanted?: string,
  change: Parameters = {},
): Promise<Response> {
  return postForm(mounted, '/oidc/oauth/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    client_id: 'openziti',
    subject_token: token,
    subject_token_type: `${TYPE}${kind}`,
    requested_token_type: wanted && `${TYPE}${wanted}`,
    ...change,
  })
}

/** A login that is under way: posts a step of it. */
export function step(
  mounted: Reached,
  id: string,
  path: string,
  parameters: Parameters = {},
  headers?: Readonly<Record<string, string>>,
  client?: ClientCertificate,
): Promise<Response> {
  return postForm(mounted, `/oidc/login/${path}`, { id, ...parameters }, headers, client)
}

/** The code of a request that is complete. */
export async function codeOf(mounted: Reached, id: string): Promise<string> {
  const code = (await callback(mounted, id)).get('code')
  if (code === null) throw new Error('the login is not complete')
  return code
}

/** Logs in by password, code and token. */
export async function openIdTokens(
  mounted: Reached,
  who: { readonly username: string; readonly password: string } = TEST_ADMIN,
  change: { readonly authorize?: Parameters; readonly login?: Parameters } = {},
): Promise<Tokens> {
  const key = proofKey()
  const id = await begin(mounted, key, change.authorize)
  const { username, password } = who
  expect((await step(mounted, id, 'password', { username, password, ...change.login })).status).toBe(302)
  const response = await exchangeCode(mounted, await codeOf(mounted, id), key)
  expect(response.status).toBe(200)
  return tokensIn(response)
}

/** The tokens of an answer. */
export async function tokensIn(response: Response): Promise<Tokens> {
  // Tests go on to look at every member.
  return (await response.json()) as Tokens
}

/** The claims of a token, unverified. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into claims of every kind.
export function claimsOf(token: string): Record<string, any> {
  return decodeJwt(token)
}

/** Asks a REST operation with an access token. */
export function bearing(
  mounted: Reached,
  token: string,
  path = '/edge/client/v1/current-identity',
  request: RawRequest = {},
  client?: ClientCertificate,
): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...request.headers }
  return mounted.fetch(path, { ...request, headers }, client)
}

/** Status, and error with its description, of an answer in the words of OAuth 2.0. */
export async function oauthError(response: Response): Promise<readonly [number, string, string | undefined]> {
  const body = (await response.json()) as { readonly error: string; readonly error_description?: string }
  return [response.status, body.error, body.error_description]
}
