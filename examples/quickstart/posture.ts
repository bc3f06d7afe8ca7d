import type { ClientApi, RequestOf } from 'portcullis/client'
import type { DeviceClient } from './device.ts'

/** A service as an identity sees it. */
export type ListedService = Awaited<ReturnType<typeof listServices>>[number]
type PostureResponse = RequestOf<ClientApi['POST /posture-response']>['body']

/** The services that an identity may dial or bind, with the posture queries that stand before them. */
export async function listServices(client: DeviceClient) {
  return (await client.call('GET /services', { query: { limit: 500, sort: 'name' } })).data
}

/** The posture checks of a service, each once. */
export function queriesOf(service: ListedService) {
  const queries = service.postureQueries.flatMap(({ postureQueries }) => postureQueries)
  return [...new Map(queries.map((query) => [query.id, query])).values()]
}

/** Reports whether some service policy that grants the service passes. */
export function isPassing(service: ListedService): boolean {
  return service.postureQueries.some((policy) => policy.isPassing)
}

/** One line on a service: what its policies grant, and which posture checks pass. */
export function describeService(service: ListedService): string {
  const checks = queriesOf(service).map(({ queryType, isPassing }) => `${queryType} ${isPassing ? 'passes' : 'fails'}`)
  const posture = checks.length === 0 ? 'no posture checks' : checks.join(', ')
  return `${service.name}: ${service.permissions.join(', ')}, ${isPassing(service) ? 'passing' : 'not passing'} (${posture})`
}

/** Posture responses of a managed laptop. */
export function responseTo(query: { readonly id: string; readonly queryType: string }): PostureResponse {
  switch (query.queryType) {
    case 'DOMAIN':
      return { id: query.id, typeId: 'DOMAIN', domain: 'corp.example' }
    case 'OS':
      return { id: query.id, typeId: 'OS', type: 'Linux', version: '6.12.0' }
    default:
      throw new Error(`the laptop of this example cannot report ${query.queryType}`)
  }
}

/** A domain that no posture check of the example accepts. */
export const FOREIGN_DOMAIN = 'coffee-shop.example'
