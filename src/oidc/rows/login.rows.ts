import { z } from 'zod'
import { ControllerError } from '../../domain/errors.ts'
import { described } from '../../resources/declaration/words.ts'
import { EnvInfo, SdkInfo } from '../../resources/identities/identities.ts'
import { validate } from '../../resources/requests/validation.ts'
import { HttpRefusal } from '../pipeline/answer/problem.ts'
import { readForm } from '../pipeline/input/form.ts'
import { FORM, mediaTypeOf } from '../pipeline/input/media-types.ts'

/** Characters of a signing request: one for an RSA key of 8192 bits has a fifth of it. */
const MAX_CSR = 16_384

/** What a login takes, as JSON or as a form. */
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
  // The schema answers what it describes.
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
