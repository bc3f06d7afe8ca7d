import {
  type ApiClient,
  ApiError,
  createManagementClient,
  createPortcullisClient,
  type Fetch,
  type ManagementApi,
  type PortcullisApi,
} from '../../../../src/client/index.ts'
import type { GivenOptions } from '../command-line/options.ts'
import { type Environment, UsageError } from '../command-line/usage.ts'
import { ADMIN_PASSWORD, ADMIN_USERNAME, type AdminCredentials, adminCredentials } from '../input/admin-credentials.ts'
import { DEFAULT_PROFILE, Profiles } from './profiles.ts'
import { readTrustBundle, type TrustBundle, trustingFetch } from './trusting-fetch.ts'

/** The options of commands that ask a running controller. */
export const CONNECTION_OPTIONS = {
  url: {
    value: 'https://HOST:PORT',
    variable: true,
    summary: 'the controller to ask; default: that of the login profile',
  },
  ca: {
    value: 'FILE',
    variable: true,
    summary: "the controller's trust bundle, PEM; default: that of the profile, or the system's certificates",
  },
  profile: { value: 'NAME', variable: true, summary: 'a login of portcullis login; default: default' },
} as const

/** How a command comes to a running controller, for help. */
export const CONNECTION_DETAILS = `It comes to a running controller by the login of portcullis login, or, with --url, as
PORTCULLIS_ADMIN_USERNAME with PORTCULLIS_ADMIN_PASSWORD.`

/** A running controller, called in a login. */
export interface Connection {
  readonly management: ApiClient<ManagementApi>
  readonly portcullis: ApiClient<PortcullisApi>
  /** The parts that clients are made of, for commands that make a client of their own. */
  readonly access: { readonly baseUrl: string; readonly fetch: Fetch; readonly token: string }
}

/** The arguments by which a command finds the controller that it asks. */
export interface ConnectionRequest {
  readonly options: GivenOptions<keyof typeof CONNECTION_OPTIONS>
  readonly environment: Environment
}

/** Whose API session is used, and whether it ends with the command. */
interface Login {
  readonly url: string
  readonly trusted: TrustBundle | undefined
  readonly token: string
  readonly isOwn: boolean
}

/**
 * Does `work` in a login: by the login profile, or, with `--url`, by the credentials in the environment, whose API session ends afterwards.
 * Throws {@link UsageError} without either, or when the login has ended.
 */
export async function withConnection<T>(
  request: ConnectionRequest,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { url: baseUrl, trusted, token, isOwn } = await login(request)
  const access = { baseUrl, fetch: trustingFetch(trusted), token }
  const management = createManagementClient(access)
  try {
    return await work({ management, portcullis: createPortcullisClient(access), access })
  } catch (error) {
    if (isOwn || !(error instanceof ApiError) || error.status !== 401) throw error
    throw new UsageError(`the login has ended, or may not do this: portcullis login renews it (${error.message})`, {
      cause: error,
    })
  } finally {
    // A session that could not be ended ends by itself.
    if (isOwn) await management.call('DELETE /current-api-session').catch(() => undefined)
  }
}

async function login({ options, environment }: ConnectionRequest): Promise<Login> {
  const named = options.value('profile')
  const url = options.value('url')
  const caFile = options.value('ca')
  const given = caFile === undefined ? undefined : await readTrustBundle(caFile)
  const admin = adminCredentials(environment)
  if (url !== undefined && named === undefined && admin !== undefined) {
    const origin = readControllerUrl(url)
    const management = createManagementClient({ baseUrl: origin, fetch: trustingFetch(given) })
    const { token } = await logInByPassword(management, admin)
    return { url: origin, trusted: given, token, isOwn: true }
  }
  const name = named ?? DEFAULT_PROFILE
  const profile = await new Profiles(environment).read(name)
  const origin = url === undefined ? profile?.url : readControllerUrl(url)
  if (profile === undefined || origin !== profile.url) throw noLogin(named, url)
  const kept = profile.caPem === undefined ? undefined : { pem: profile.caPem, source: `the profile ${name}` }
  return { url: profile.url, trusted: given ?? kept, token: profile.token, isOwn: false }
}

/** The API session of a login by password. A refusal lists the possible causes: the controller does not say which applies. */
export async function logInByPassword(management: ApiClient<ManagementApi>, body: AdminCredentials) {
  try {
    return (await management.call('POST /authenticate', { query: { method: 'password' }, body })).data
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'INVALID_AUTH') throw error
    const reason = `wrong username or password, or '${body.username}' is locked, disabled or may not log in by password`
    throw new Error(`${error.status} ${error.code}: ${reason}`, { cause: error })
  }
}

function noLogin(profile: string | undefined, url: string | undefined): UsageError {
  if (profile !== undefined)
    return new UsageError(`there is no login ${profile}: portcullis login --profile ${profile}`)
  const credentials = `${ADMIN_USERNAME} and ${ADMIN_PASSWORD} in the environment`
  if (url !== undefined) return new UsageError(`--url needs a login there: portcullis login ${url}, or ${credentials}`)
  const remedy = `portcullis login https://HOST:PORT, or --url with ${credentials}`
  return new UsageError(`nobody is logged in: ${remedy} (portcullis admin reset-password makes an administrator)`)
}

/** The address of a controller without a path, as an option or a command takes it. Throws {@link UsageError}, which names the taker. */
export function readControllerUrl(value: string, taker = '--url'): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'https:' && url.pathname === '/' && url.username === '') return url.origin
  throw new UsageError(`${taker} takes https://HOST:PORT, not '${value}'`)
}
