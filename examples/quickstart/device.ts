import { type ApiClient, type ClientApi, createClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'

/** The credentials of a device in TLS, both PEM: its certificate, followed by intermediates, and its private key. */
export interface DeviceCertificate {
  readonly cert: string
  readonly key: string
}

/** The client API as one authenticated identity. */
export type DeviceClient = ApiClient<ClientApi>

/** Authenticates with a client certificate over mTLS. */
export async function logInByCertificate(
  url: string,
  ca: string,
  certificate: DeviceCertificate,
): Promise<DeviceClient> {
  const client = createClient({ baseUrl: url, fetch: httpsFetch({ ca, ...certificate }) })
  const { data } = await client.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
  return client.withToken(data.token)
}
