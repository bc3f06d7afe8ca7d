import { LARGEST_PAGE } from '../../../src/base/limits.ts'
import {
  type ApiClient,
  ApiError,
  type ClientOptions,
  createManagementClient,
  createPortcullisClient,
  type ManagementApi,
  type PortcullisApi,
} from '../../../src/client/index.ts'
import {
  type AccessQuestion,
  type EntityDoor,
  type NetworkDoor,
  RefusedRequest,
  type ServiceConfigIds,
} from '../../../src/planning/index.ts'
import { postureResponses } from '../../../src/policy.ts'

/** How a controller is reached as one of its administrators: `token` is that of an API session. */
export type AdminOptions = ClientOptions & { readonly token: string }

/** The APIs of a controller, for an administrator. */
export class Connection implements NetworkDoor {
  readonly management: ApiClient<ManagementApi>
  readonly portcullis: ApiClient<PortcullisApi>
  readonly serviceConfigs: NetworkDoor['serviceConfigs']

  constructor(options: AdminOptions) {
    this.management = createManagementClient(options)
    this.portcullis = createPortcullisClient(options)
    const route = '/identities/{id}/service-configs'
    const body = (pairs: readonly ServiceConfigIds[]) => pairs.map((pair) => ({ ...pair }))
    this.serviceConfigs = {
      list: (identityIds) => this.#serviceConfigs(identityIds),
      associate: (id, pairs) =>
        refusable(
          async () => void (await this.management.call(`POST ${route}`, { params: { id }, body: body(pairs) })),
        ),
      remove: (id, pairs) =>
        refusable(
          async () => void (await this.management.call(`DELETE ${route}`, { params: { id }, body: body(pairs) })),
        ),
    }
  }

  entities(resource: string): EntityDoor {
    // Webhooks are not in the management API.
    const call = (
      resource === 'webhooks' ? this.portcullis.call : this.management.call
    ) as ApiClient<ManagementApi>['call']
    return {
      list: async (query) => {
        const route = `GET /${resource}` as 'GET /services'
        try {
          const { data, meta } = await call(route, { query: { ...query, sort: 'id' } })
          return { items: data.map((entity) => ({ ...entity })), totalCount: meta.pagination.totalCount }
        } catch (error) {
          // Other controllers have no webhooks, and this one shows them to administrators alone.
          if (resource !== 'webhooks' || !isRefusal(error, [401, 404])) throw error
          return { items: [], totalCount: 0 }
        }
      },
      find: async (id) => {
        const { data } = await call(`GET /${resource}/{id}` as 'GET /services/{id}', { params: { id } })
        return data.id
      },
      create: async (body) => {
        const route = `POST /${resource}` as 'POST /services'
        // The body was read by the declaration of the resource, which has this type.
        const { data } = await refusable(() => call(route, { body: body as { readonly name: string } }))
        return data.id
      },
      replace: async (id, body) => {
        const route = `PUT /${resource}/{id}` as 'PUT /services/{id}'
        await refusable(() => call(route, { params: { id }, body: body as { readonly name: string } }))
      },
      patch: async (id, body) => {
        const route = `PATCH /${resource}/{id}` as 'PATCH /services/{id}'
        await refusable(() => call(route, { params: { id }, body }))
      },
      delete: async (id) => {
        await refusable(() => call(`DELETE /${resource}/{id}` as 'DELETE /services/{id}', { params: { id } }))
      },
    }
  }

  async explain({ at, posture, ...question }: AccessQuestion) {
    const { mfa, ...facts } = posture ?? {}
    // The same values; their reader's type does not allow them to be read-only.
    const responses = JSON.parse(JSON.stringify(postureResponses(facts)))
    const assumed = { posture: responses, ...(mfa === true ? { mfa: true } : {}) }
    const body = { ...question, ...(at === undefined ? {} : { at }), ...(posture === undefined ? {} : assumed) }
    return (await this.portcullis.call('POST /explain', { body })).data
  }

  async #serviceConfigs(identityIds: readonly string[]) {
    const found: (ServiceConfigIds & { readonly identityId: string })[] = []
    try {
      for (let total = 1; found.length < total; ) {
        const query = { limit: LARGEST_PAGE, offset: found.length, sort: 'id' }
        const { data, meta } = await this.portcullis.call('GET /service-configs', { query })
        found.push(...data)
        total = data.length === 0 ? 0 : meta.pagination.totalCount
      }
      return found
    } catch (error) {
      // Other controllers with the same management API list them by identity alone.
      if (!isRefusal(error, [404])) throw error
      for (const id of identityIds) {
        const { data } = await this.management.call('GET /identities/{id}/service-configs', { params: { id } })
        found.push(...data.map(({ serviceId, configId }) => ({ identityId: id, serviceId, configId })))
      }
      return found
    }
  }
}

function isRefusal(error: unknown, statuses: readonly number[]): boolean {
  return error instanceof ApiError && statuses.includes(error.status)
}

async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new RefusedRequest(error, { member: error.details?.field, isAbsent: error.status === 404 })
  }
}
