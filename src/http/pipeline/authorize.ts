import { ControllerError, TokenRefused } from '../../base/errors.ts'
import { type Call, type Caller, callerOf, refusalWithout, requireReading } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { attributesHeld, hasRights, isAdministrator, permits } from '../../facts/authority/authority.rules.ts'
import type { Access, OperationShape } from '../operations/operation.ts'
import { tokenChallenge } from './envelope.ts'
import { HttpRefusal } from './problem.ts'

/**
 * Lets a call with sufficient rights through to an operation: a call of the host always, an anonymous call where the
 * operation is open. A lack of permission is `UNAUTHORIZED` (401), as deployed clients expect. While a second factor is
 * missing, only `partial` operations are open, whatever rights the identity has.
 */
export function authorize({ access, reads = [] }: Pick<OperationShape, 'access' | 'reads'>, call: Call): void {
  if (access === 'public' || call.by === 'system') return
  const caller = callerOf(call)
  if (!isAllowed(access, caller)) throw refusalOf(caller, access)
  requireReading(call, reads)
}

/** A delegate learns which permission it lacks; everybody else gets the answer of deployed controllers. */
function refusalOf({ missing, isFullyAuthenticated, identity }: Caller, access: Access): ControllerError {
  const { signer, signerProblem = 'missing' } = missing
  if (signer !== undefined) return new TokenRefused('secondary', signerProblem, [signer])
  const isDelegate = isFullyAuthenticated && hasRights(identity)
  return isDelegate && typeof access === 'object' ? refusalWithout(access) : new ControllerError('UNAUTHORIZED')
}

/** The challenge of a session that may go on, but needs a token of an external signer to be complete. */
export function secondaryChallenge({ missing: { signer, signerProblem = 'missing' } }: Caller): string | undefined {
  return signer && tokenChallenge({ factor: 'secondary', problem: signerProblem, signers: [signer] })
}

function isAllowed(access: Access, caller: Caller): boolean {
  if (access === 'public' || access === 'partial') return true
  if (!caller.isFullyAuthenticated) return false
  if (access === 'authenticated' || isAdministrator(caller.identity)) return true
  if (access === 'admin') return false
  if (access === 'delegate') return hasRights(caller.identity)
  return permits(caller.identity.permissions, access)
}

/** A request that the controller has authorized. */
export interface AuthorizationRequest {
  /** The API that is called: several have operations of the same route, `GET /services` for one. */
  readonly api: 'management' | 'client' | 'fabric' | 'portcullis' | 'openid'
  /** The route of the operation, for example `DELETE /posture-checks/{id}`. */
  readonly operation: string
  /** Path parameters by the names between braces, for example `{ id: '4HcCQ2Yk1' }`. */
  readonly params: Readonly<Record<string, string>>
  readonly caller: AuthorizedCaller
}

/** The authenticated sender of a request. */
export interface AuthorizedCaller {
  readonly identityId: string
  readonly name: string
  readonly roleAttributes: readonly string[]
  /** The delegated permissions of the identity, such as `service.read`; an administrator needs none. */
  readonly permissions: readonly string[]
  /** True for every administrator, the default admin included. */
  readonly isAdmin: boolean
  readonly apiSessionId: string
  /** The IP address of the connection; undefined for a request within the process. */
  readonly remoteAddress: string | undefined
}

/**
 * A host's own rule on top of the declared access. The controller asks it for every operation that needs a caller,
 * after it has authorized the caller. `false` refuses the request with 403.
 *
 * @example
 * import type { HostAuthorization } from 'portcullis'
 * // Delegates change nothing in the management API; devices are not concerned.
 * const authorize: HostAuthorization = ({ api, operation, caller }) =>
 *   caller.isAdmin || api !== 'management' || operation.startsWith('GET ')
 */
export type HostAuthorization = (request: AuthorizationRequest) => boolean | Promise<boolean>

/** Asks the host. Error: `UNAUTHORIZED` with status 403, the only place where it is not 401. */
export async function askHost(
  authorize: HostAuthorization | undefined,
  asked: Pick<AuthorizationRequest, 'api' | 'operation' | 'params'>,
  { caller, remoteAddress }: Pick<AuthorizedCaller, 'remoteAddress'> & { readonly caller: Caller | undefined },
): Promise<void> {
  if (authorize === undefined || caller === undefined) return
  const { identity, apiSession } = caller
  const { id: identityId, name, permissions } = identity
  const roleAttributes = attributesHeld(identity)
  const isAdmin = isAdministrator(identity)
  const known = { identityId, name, roleAttributes, permissions, isAdmin, apiSessionId: apiSession.id, remoteAddress }
  if (await authorize({ ...asked, caller: known })) return
  throw new HttpRefusal('UNAUTHORIZED', 403, { code: 'UNHANDLED', message: 'the host does not allow this operation' })
}

const MISSING = 'error="missing" error_description="no matching token was provided"'
const EXPIRED = 'error="expired" error_description="token expired"'
const BEARER = 'Bearer realm="openziti-oidc"'
const INVALID = 'error="invalid" error_description="token is invalid"'

/** Finds the caller of an access token; see `BearerSessions`. */
export interface BearerAuthentication {
  resolve(
    tokens: readonly string[],
    clientCertificates: readonly Uint8Array[],
  ): Promise<Caller | 'missing' | 'invalid' | 'expired'>
}

/** The parts of a request that authenticate its sender. */
export interface Credentials {
  readonly headers: Headers
  readonly clientCertificates: readonly Uint8Array[]
  /** Absent where no tokens are issued. */
  readonly bearer: BearerAuthentication | undefined
}

/**
 * Finds the caller of a request: the holder of the token in `zt-session`, whatever else is sent, or of an access token.
 * Error: `UNAUTHORIZED` with a challenge that names the problem.
 */
async function authenticate(engine: ControllerEngine, credentials: Credentials): Promise<Caller> {
  const { headers, bearer, clientCertificates } = credentials
  const tokens = bearerTokens(headers)
  const token = headers.get('zt-session')?.trim()
  if (token) {
    const caller = await engine.apiSessions.resolve(token, tokens)
    if (caller === undefined) throw unauthenticated(`zt-session realm="zt-session" ${INVALID}`)
    return caller
  }
  const sent = tokens.filter((text) => text !== '')
  const otherwise = sent.length === 0 ? 'missing' : 'invalid'
  const found = sent.length > 0 && bearer ? await bearer.resolve(sent, clientCertificates) : otherwise
  if (found === 'missing') throw unauthenticated(`zt-session realm="zt-session" ${MISSING},${BEARER} ${MISSING}`)
  if (found === 'invalid') throw unauthenticated(`${BEARER} ${INVALID}`)
  if (found === 'expired') throw unauthenticated(`${BEARER} ${EXPIRED}`)
  return found
}

function unauthenticated(challenge: string): HttpRefusal {
  const details = { code: 'UNHANDLED', message: 'unauthenticated for invalid credentials' }
  return new HttpRefusal('UNAUTHORIZED', 401, details, { 'www-authenticate': challenge })
}

const MAX_TOKENS = 3

/** The bearer tokens of a request: of its `Authorization` headers, which arrive joined by commas, the first three. */
export function bearerTokens(headers: Headers): readonly string[] {
  const header = headers.get('authorization')
  if (header === null) return []
  return header
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value.startsWith('Bearer '))
    .slice(0, MAX_TOKENS)
    .map((value) => value.slice('Bearer '.length))
}

/**
 * Finds the caller of a request and counts it: by identity, or by address where the operation is open or the token is
 * invalid, so that guessing tokens is limited too. Errors: `UNAUTHORIZED`, `SERVER_TOO_MANY_REQUESTS`.
 */
export async function countedCaller(
  engine: ControllerEngine,
  access: Access,
  credentials: Credentials,
  address: string | undefined,
): Promise<Caller | undefined> {
  const { requestRates } = engine
  if (access === 'public') {
    await requestRates.countAnonymous(address)
    return undefined
  }
  const caller = await authenticate(engine, credentials).catch(async (error: unknown) => {
    await requestRates.countAnonymous(address)
    throw error
  })
  await requestRates.countIdentity(caller.identity.id)
  return caller
}
