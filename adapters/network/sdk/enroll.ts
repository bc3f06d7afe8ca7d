import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { type ApiClient, ApiError, type ClientApi, createClient } from '../../../src/client/index.ts'
import { createSigningRequest } from '../enrollment/created-requests.ts'
import { httpsFetch } from '../enrollment/https-fetch.ts'
import {
  AnsweredTooLate,
  ENROLLMENT_MS,
  inTime,
  provenIssuer,
  readEnrollmentToken,
} from '../enrollment/token-issuer.ts'
import { ConnectionFailure, failureOf } from './connection-failure.ts'
import { type EnrolledDevice, type IdentityFile, identityFileOf } from './identity-file.ts'

/** How an identity enrolls. */
export interface EnrollOptions {
  /**
   * The key and certificate of an authority that the network knows, PEM: for tokens of the methods `ottca` and `ca`. A token of the
   * method `ott` makes a new key.
   */
  readonly credentials?: { readonly cert: string; readonly key: string }
  /** The name of the identity that a token of the method `ca` creates. */
  readonly name?: string
  /** Milliseconds until the enrollment counts as failed; default 30 s. */
  readonly timeoutMs?: number
}

const OPTIONS: OptionRules<EnrollOptions> = { credentials: 'object', name: 'string', timeoutMs: 'number' }

/** The token by which a device enrolls, and how. */
export interface DeviceEnrollment extends EnrollOptions {
  /** The text of an enrollment token, of Portcullis or of a deployed controller. */
  readonly jwt: string
}

const DEVICE: OptionRules<DeviceEnrollment> = { ...OPTIONS, jwt: { shape: 'string', isNeeded: true } }

/**
 * Enrolls by a token (the text of a JWT) of Portcullis or of a deployed controller, and answers the identity in the form of files, which no
 * other program knows yet: write it to a file for its owner alone. Otherwise as {@link enrollDevice}.
 *
 * @example
 * const identity = await enroll(await readFile('laptop.jwt', 'utf8'))
 * await writeFile('laptop.json', JSON.stringify(identity), { mode: 0o600 })
 */
export async function enroll(jwt: string, options: EnrollOptions = {}): Promise<IdentityFile> {
  checkOptions('enroll', options, OPTIONS)
  return identityFileOf(await enrollDevice({ ...options, jwt }))
}

/**
 * Whether a refusal means that an earlier enrollment succeeded and its answer was lost: the controller lets the certificate in, as the
 * identity with the id `expected` if there is one.
 */
async function hasEnrolled(
  client: ApiClient<ClientApi>,
  expected: string | undefined,
  refusal: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(refusal instanceof ApiError) || refusal.status >= 500) return false
  try {
    const { data } = await client.call('POST /authenticate', { query: { method: 'cert' }, body: {}, signal })
    // A session that could not be ended ends by itself.
    const ended = client.withToken(data.token).call('DELETE /current-api-session', { signal })
    await ended.catch(() => undefined)
    return expected === undefined || data.identityId === expected
  } catch {
    return false
  }
}

/**
 * Enrolls by a token: makes a key and a signing request, asks the controller to prove that it signed the token, and answers key,
 * certificate and the authorities that the controller named. {@link openIdentity} takes it as it is.
 *
 * Rejects with a `TypeError` for an invalid token, and with a {@link ConnectionFailure} when the controller does not take it: `NOT_ALLOWED`
 * where it was used before or has ended, `TIMED_OUT` where it accepts the request and does not answer. When its answer is lost the token
 * may be used up: where a second try is refused the device needs another token. A device that enrolls by `credentials` of its own needs
 * none: its second try succeeds.
 *
 * @example
 * const device = await enrollDevice({ jwt: await readFile('laptop.jwt', 'utf8') })
 * await using laptop = await openIdentity(device)
 * const { data: services } = await laptop.client.call('GET /services')
 */
export async function enrollDevice(enrollment: DeviceEnrollment): Promise<EnrolledDevice> {
  checkOptions('enrollDevice', enrollment, DEVICE, 'an object with jwt')
  const { jwt, credentials, name, timeoutMs = ENROLLMENT_MS } = enrollment
  const invitation = readEnrollmentToken(jwt)
  const { issuer, method, token, subject } = invitation
  if (!['ott', 'ottca', 'ca'].includes(method)) {
    throw new TypeError(`the token is for the method ${method}, by which no certificate is given: log in otherwise`)
  }
  const own = method === 'ott' ? undefined : credentials
  if (method !== 'ott' && own === undefined) throw new TypeError(`a token of the method ${method} needs credentials`)
  try {
    return await inTime(timeoutMs, async (signal) => {
      const controller = await provenIssuer(jwt, invitation, signal)
      if (controller === undefined) {
        throw new ConnectionFailure('NOT_AUTHENTICATED', `${issuer.origin} is not the controller that signed the token`)
      }
      const ca = await controller.authorities()
      const { key, csr } = own === undefined ? await createSigningRequest(subject) : { key: own.key, csr: undefined }
      const client = createClient({ baseUrl: issuer.origin, fetch: httpsFetch({ ca, ...own }) })
      const asked = client.call('POST /enroll', {
        query: { method, ...(method !== 'ca' && { token }) },
        body: { ...(csr !== undefined && { clientCsr: csr }), ...(name !== undefined && { name }) },
        signal,
      })
      if (own === undefined) {
        return { controller: issuer.origin, key, cert: String(Reflect.get((await asked).data, 'cert') ?? ''), ca }
      }
      const device = { controller: issuer.origin, key, cert: own.cert, ca }
      try {
        await asked
      } catch (error) {
        const expected = method === 'ca' ? undefined : subject
        if (!(await hasEnrolled(client, expected, error, signal))) throw error
      }
      return device
    })
  } catch (error) {
    const task = `enrollment at ${issuer.origin}`
    if (error instanceof AnsweredTooLate) {
      throw new ConnectionFailure('TIMED_OUT', `${task}: ${error.message}; the token may be used up`, { cause: error })
    }
    throw failureOf(error, task)
  }
}
