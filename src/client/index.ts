/**
 * Typed calls of a controller's APIs by anything that has `fetch`: browsers, devices, tools. Nothing of the controller itself is loaded.
 *
 * @module portcullis/client
 */
import type { ClientApi, ManagementApi, PortcullisApi } from '../apis/apis.ts'
import { type ApiClient, type ClientOptions, createApiClient } from './api-client.ts'

export type { ClientApi, Controller, Enrolled, ManagementApi, PortcullisApi, VersionInfo } from '../apis/apis.ts'
export type * from '../facts/resources/wire-names.ts'
export type { ListRequest, ListRoute } from './answer.ts'
export type { ApiClient, ClientOptions, Fetch } from './api-client.ts'
export { givingRoleAttribute, type RecordedChange, takingBack } from './trial-changes.ts'
export { type AnswerOf, ApiError, type RequestArguments, type RequestOf } from './types.ts'

/**
 * A client of the management API.
 *
 * @example
 * const management = createManagementClient({
 *   baseUrl: 'https://controller.example.org:1280',
 *   login: async () => {
 *     const anonymous = createManagementClient({ baseUrl: 'https://controller.example.org:1280' })
 *     const body = { username: 'admin', password: process.env.ADMIN_PASSWORD ?? '' }
 *     return (await anonymous.call('POST /authenticate', { query: { method: 'password' }, body })).data.token
 *   },
 * })
 * await management.call('POST /services', { body: { name: 'wiki' } })
 */
export function createManagementClient(options: ClientOptions): ApiClient<ManagementApi> {
  return createApiClient('/edge/management/v1', options)
}

/**
 * A client of the client API, for an identity's own use.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://controller.example.org:1280', token })
 * const { data: services } = await client.call('GET /services')
 */
export function createClient(options: ClientOptions): ApiClient<ClientApi> {
  return createApiClient('/edge/client/v1', options)
}

/**
 * A client of our own API: explanations and simulations of access.
 *
 * @example
 * const portcullis = createPortcullisClient({ baseUrl: 'https://controller.example.org:1280', token })
 * const body = { identity: 'laptop', service: 'wiki', type: 'Dial' as const }
 * console.log((await portcullis.call('POST /explain', { body })).data.text)
 */
export function createPortcullisClient(options: ClientOptions): ApiClient<PortcullisApi> {
  return createApiClient('/portcullis/v1', options)
}
