import {
  type ApiClient,
  type ClientOptions,
  createManagementClient,
  createPortcullisClient,
  type ManagementApi,
  type PortcullisApi,
} from '../../../src/client/index.ts'

/** How a controller is reached as one of its administrators: `token` is that of an API session. */
export type AdminOptions = ClientOptions & { readonly token: string }

/** The operations of a resource have the same shapes for all resources that models know. */
interface EntityClient {
  list(query: { readonly limit: number; readonly offset: number }): Promise<EntityPage>
  create(body: object): Promise<string>
  replace(id: string, body: object): Promise<void>
  patch(id: string, body: object): Promise<void>
  delete(id: string): Promise<void>
}

interface EntityPage {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly totalCount: number
}

/** The APIs of a controller, for an administrator. */
export class Connection {
  readonly management: ApiClient<ManagementApi>
  readonly portcullis: ApiClient<PortcullisApi>

  constructor(options: AdminOptions) {
    this.management = createManagementClient(options)
    this.portcullis = createPortcullisClient(options)
  }

  /** The operations of the resource of a name, as `services`; it stands for any other in the types of the routes. */
  entities(resource: string): EntityClient {
    // Webhooks are not in the management API.
    const call = (
      resource === 'webhooks' ? this.portcullis.call : this.management.call
    ) as ApiClient<ManagementApi>['call']
    return {
      list: async (query) => {
        const route = `GET /${resource}` as 'GET /services'
        const { data, meta } = await call(route, { query: { ...query, sort: 'id' } })
        return { items: data.map((entity) => ({ ...entity })), totalCount: meta.pagination.totalCount }
      },
      create: async (body) => {
        const route = `POST /${resource}` as 'POST /services'
        // The body was read by the declaration of the resource, which has this type.
        const { data } = await call(route, { body: body as { readonly name: string } })
        return data.id
      },
      replace: async (id, body) => {
        const route = `PUT /${resource}/{id}` as 'PUT /services/{id}'
        await call(route, { params: { id }, body: body as { readonly name: string } })
      },
      patch: async (id, body) => {
        await call(`PATCH /${resource}/{id}` as 'PATCH /services/{id}', { params: { id }, body })
      },
      delete: async (id) => {
        await call(`DELETE /${resource}/{id}` as 'DELETE /services/{id}', { params: { id } })
      },
    }
  }
}
