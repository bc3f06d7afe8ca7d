import { createManagementClient, type Fetch } from '../../../src/client/index.ts'
import { ADMIN_PASSWORD, ADMIN_USERNAME, adminCredentials } from '../input/admin-credentials.ts'
import type { Environment } from '../settings/setting.ts'
import { UsageError } from '../settings/usage-error.ts'
import { httpsFetch } from './https-fetch.ts'

/** How a running controller is named. */
export interface ControllerAddress {
  readonly url: string | undefined
  /** PEM file of its trust bundle; undefined for the certificates of the system. */
  readonly caFile: string | undefined
}

/** A running controller, and an API session of its admin. */
export interface AdminSession {
  readonly baseUrl: string
  readonly fetch: Fetch
  readonly token: string
}

/**
 * Logs in to a running controller with the credentials in the environment, does the work and logs out. Throws
 * {@link UsageError} for an address that is none, or without credentials.
 */
export async function asAdmin<T>(
  { url, caFile }: ControllerAddress,
  environment: Environment,
  work: (admin: AdminSession) => Promise<T>,
): Promise<T> {
  const admin = adminCredentials(environment)
  if (admin === undefined) {
    throw new UsageError(`a running controller needs ${ADMIN_USERNAME} and ${ADMIN_PASSWORD} in the environment`)
  }
  const connection = { baseUrl: readUrl(url), fetch: await httpsFetch(caFile) }
  const management = createManagementClient(connection)
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: admin })
  try {
    return await work({ ...connection, token: data.token })
  } finally {
    await management.withToken(data.token).call('DELETE /current-api-session')
  }
}

function readUrl(value: string | undefined): string {
  if (value === undefined) throw new UsageError('name the controller with --url, such as https://127.0.0.1:1280')
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'https:' && url.pathname === '/') return url.origin
  throw new UsageError(`--url takes https://HOST:PORT, not '${value}'`)
}
