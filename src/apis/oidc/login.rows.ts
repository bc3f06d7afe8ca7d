import { z } from 'zod'
import { ControllerError } from '../../base/errors.ts'
import { EnvInfo, SdkInfo } from '../../facts/identities/identity.resource.ts'
import type { OperationShape } from '../../http/operations/operation.ts'
import { HttpRefusal } from '../../http/pipeline/problem.ts'
import { FORM, mediaTypeOf, readForm } from '../../http/pipeline/read-input.ts'
import { validate } from '../../kernel/declaration/validation.ts'
import { described } from '../../kernel/declaration/words.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import type { LoginClient, LoginCredentials } from '../../oidc/request-logins.ts'
import { loginPage, refusedLoginPage, stepAnswer, stepPage, wantsPage } from './login-pages.rows.ts'
import { openIdOperation, text } from './openid-row.rows.ts'

/** The most characters of a signing request: a request for an RSA key of 8192 bits has a fifth of it. */
const MAX_CSR = 16_384

/** The body of a login, as JSON or as a form. */
export const LoginBody = described(
  z.object({
    id: z.string().max(256).optional(),
    username: z.string().max(1024).optional(),
    password: z.string().max(1024).optional(),
    code: z.string().max(1024).optional(),
    configTypes: z.array(z.string().max(256)).max(100).nullish(),
    sdkInfo: SdkInfo.nullish(),
    envInfo: EnvInfo.nullish(),
    csrPem: z.string().max(MAX_CSR).nullish(),
  }),
  {
    id: 'The id of the auth request; it may come in the query instead, as `authRequestID` or `id`.',
    username: 'The username, for a login by password.',
    password: 'The password.',
    code: 'A one-time password or recovery code.',
    configTypes: 'Config types, by id or name, whose configs the session sees in services; `all` for every type.',
    sdkInfo: 'The SDK of the client.',
    envInfo: 'The environment of the client.',
    csrPem: 'A signing request, PEM: the tokens are bound to the certificate that comes with them.',
  },
)
export type LoginBody = z.output<typeof LoginBody>

/** The requests and answers of a step of a login, for clients and for the pages of a browser. */
export const LOGIN_STEP = {
  access: 'public',
  body: LoginBody,
  bodyOptional: true,
  textBody: [FORM],
  produces: 'application/json',
  orProduces: ['text/html'],
} as const satisfies Partial<OperationShape>

/** Fields of a form that stand for members of `sdkInfo`, in both spellings that SDKs have. */
const SDK_FIELDS: Readonly<Record<string, string>> = {
  sdkAppId: 'appId',
  sdkAppID: 'appId',
  sdkAppVersion: 'appVersion',
  sdkBranch: 'branch',
  sdkRevision: 'revision',
  sdkType: 'type',
  sdkVersion: 'version',
}
const ENV_FIELDS: Readonly<Record<string, string>> = {
  envArch: 'arch',
  envOs: 'os',
  envOsRelease: 'osRelease',
  envOsVersion: 'osVersion',
  envDomain: 'domain',
  envHostname: 'hostname',
}

/** The body of a login: JSON that was validated, or the text of a form. Error: `COULD_NOT_VALIDATE` naming the field. */
export function loginBody(body: LoginBody | undefined, formText: string | undefined): LoginBody {
  if (formText === undefined) return body ?? {}
  const form = readForm(formText)
  const plain = ['id', 'username', 'password', 'code', 'csrPem'].flatMap((name) => {
    const value = form.getAll(name).at(-1)
    return value === undefined || value === '' ? [] : [[name, value]]
  })
  const read = {
    ...Object.fromEntries(plain),
    configTypes: form.getAll('configTypes').filter((name) => name !== ''),
    sdkInfo: membersIn(form, SDK_FIELDS),
    envInfo: membersIn(form, ENV_FIELDS),
  }
  // The schema answers the type that it describes.
  return validate(LoginBody, read, 'body') as LoginBody
}

/**
 * Refuses a request without one of the two content types, also one without a body: deployed servers do. Error: 415
 * (`UNSUPPORTED_MEDIA_TYPE` in the answer).
 */
export function requireLoginType(headers: Headers): void {
  const given = headers.get('content-type')
  const type = mediaTypeOf(given)
  if (type === FORM || type === 'application/json') return
  const reason = `the content type: ${given ?? ''}, is not supported (supported: ${FORM}, application/json)`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 415, { field: 'Content-Type', reason })
}

/** The id of the auth request: of the body, or of the query by one of its two names. Error: `UNAUTHORIZED` without one. */
export function requestIdOf(body: LoginBody, url: URL): string {
  const id = body.id || url.searchParams.get('authRequestID') || url.searchParams.get('id')
  if (!id) throw new ControllerError('UNAUTHORIZED')
  return id
}

function membersIn(form: URLSearchParams, fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const sent = Object.entries(fields).flatMap(([field, member]) => {
    const value = form.getAll(field).at(-1)
    return value === undefined || value === '' ? [] : [[member, value]]
  })
  return Object.fromEntries(sent)
}

const TAKES = {
  ...LOGIN_STEP,
  credentials: ['none', 'certificate', 'token'],
  headers: ['authorization'],
} as const satisfies Partial<OperationShape>

const METHODS = [
  { name: 'password', method: 'password', summary: 'Logs in by username and password' },
  { name: 'username', method: 'password', summary: 'Logs in by username and password' },
  { name: 'cert', method: 'cert', summary: 'Logs in by the client certificate of the connection' },
  { name: 'ext-jwt', method: 'ext-jwt', summary: 'Logs in by a bearer token of an external JWT signer' },
] as const

/** The first step of a login: a page for people, and the address that the page and SDKs post credentials to. */
export function loginOperations(provider: OpenIdProvider) {
  return METHODS.flatMap(({ name, method, summary }) => [
    openIdOperation(
      provider,
      { route: `GET /login/${name}`, summary: 'Where a login begins', access: 'public', form: true },
      async ({ url }) => {
        const id = url.searchParams.get('authRequestID') ?? ''
        const header = { 'auth-request-id': printable(id) }
        if (method === 'password') return loginPage(provider, id, header)
        return text('please POST to this URL', { headers: header })
      },
    ),
    openIdOperation(
      provider,
      { ...TAKES, route: `POST /login/${name}`, summary },
      async ({ body, text: formText, headers, url, call, issuer }) => {
        requireLoginType(headers)
        const login = loginBody(body, formText)
        const isForPeople = wantsPage(headers)
        try {
          const id = requestIdOf(login, url)
          const through = isForPeople ? 'browser' : 'program'
          const step = await provider.logins.logIn(call, id, credentialsOf(method, login), clientOf(login), through)
          const { request, missing } = step
          if (isForPeople) return await stepPage(provider, issuer, request.id, missing)
          return stepAnswer(issuer, request.id, missing)
        } catch (error) {
          if (!isForPeople) throw error
          return refusedLoginPage(provider, login.id ?? '', method, login.username ?? '', error)
        }
      },
    ),
  ])
}

function credentialsOf(method: LoginCredentials['method'], { username, password }: LoginBody): LoginCredentials {
  return method === 'password' ? { method, username: username ?? '', password: password ?? '' } : { method }
}

function clientOf({ configTypes, sdkInfo, envInfo, csrPem }: LoginBody): LoginClient {
  return {
    configTypes: configTypes ?? [],
    sdkInfo: sdkInfo ?? undefined,
    envInfo: envInfo ?? undefined,
    csrPem: csrPem || undefined,
  }
}

/** Keeps the characters of a text that may stand in a header. */
function printable(value: string): string {
  return value.replace(/[^\x21-\x7e]/g, '').slice(0, 256)
}
