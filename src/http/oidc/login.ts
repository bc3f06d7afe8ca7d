import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import type { LoginClient, LoginCredentials } from '../../engine/oidc/requests/request-logins.ts'
import type { OperationShape } from '../operations/operation.ts'
import { FORM } from '../pipeline/input/media-types.ts'
import { LoginBody, loginBody, requestIdOf, requireLoginType } from './login-body.ts'
import { text } from './operations/answers.ts'
import { openIdOperation } from './operations/row.ts'
import { stepAnswer, wantsPage } from './pages/login-answer.ts'
import { loginPage, refusedLoginPage, stepPage } from './pages/login-pages.ts'

const TAKES = {
  access: 'public',
  credentials: ['none', 'certificate', 'token'],
  headers: ['authorization'],
  body: LoginBody,
  bodyOptional: true,
  textBody: [FORM],
  produces: 'application/json',
  orProduces: ['text/html'],
} as const satisfies Partial<OperationShape>

const METHODS = [
  { name: 'password', method: 'password', summary: 'Logs in by username and password' },
  { name: 'username', method: 'password', summary: 'Logs in by username and password' },
  { name: 'cert', method: 'cert', summary: 'Logs in by the client certificate of the connection' },
  { name: 'ext-jwt', method: 'ext-jwt', summary: 'Logs in by a bearer token of an external JWT signer' },
] as const

/** The first step of a login: a page for people, and what it and SDKs post credentials to. */
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

/** What may stand in a header. */
function printable(value: string): string {
  return value.replace(/[^\x21-\x7e]/g, '').slice(0, 256)
}
