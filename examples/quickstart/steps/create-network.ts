import { type ApiClient, createManagementClient, type ManagementApi } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { type Network, readNetwork } from '../network.ts'
import type { Tick } from '../story.ts'
import type { ServedController } from './start-controller.ts'

/** Ids by name. */
export type Ids = ReadonlyMap<string, string>

/** The network as the controller knows it, and an admin's way to it. */
export interface Company {
  readonly network: Network
  readonly management: ApiClient<ManagementApi>
  readonly identities: Ids
  readonly services: Ids
  readonly postureChecks: Ids
}

/** Logs in as the admin and creates what of `network.yaml` does not exist yet, all through the management API. */
export async function createNetwork(controller: ServedController, tick: Tick): Promise<Company> {
  const management = await logInAsAdmin(controller)
  tick('logged in to the management API as the admin, by password')
  const network = await readNetwork()
  const all = { query: { limit: 500 } }

  const identities = await createMissing(
    network.identities.map((body) => ({ ...body, enrollment: { ott: true } })),
    () => management.call('GET /identities', all),
    (body) => management.call('POST /identities', { body }),
  )
  tick(`identities: ${namesOf(network.identities)}`)

  const services = await createMissing(
    network.services,
    () => management.call('GET /services', all),
    (body) => management.call('POST /services', { body }),
  )
  tick(`services: ${namesOf(network.services)}`)

  const edgeRouters = await createMissing(
    network.edgeRouters,
    () => management.call('GET /edge-routers', all),
    (body) => management.call('POST /edge-routers', { body }),
  )
  tick(`edge routers: ${namesOf(network.edgeRouters)}`)

  const postureChecks = await createMissing(
    network.postureChecks,
    () => management.call('GET /posture-checks', all),
    (body) => management.call('POST /posture-checks', { body }),
  )
  tick(`posture checks: ${namesOf(network.postureChecks)}`)

  await createMissing(
    network.servicePolicies.map((body) => ({
      ...body,
      identityRoles: withIds(body.identityRoles, identities),
      serviceRoles: withIds(body.serviceRoles, services),
      postureCheckRoles: withIds(body.postureCheckRoles, postureChecks),
    })),
    () => management.call('GET /service-policies', all),
    (body) => management.call('POST /service-policies', { body }),
  )
  tick(`service policies: ${namesOf(network.servicePolicies)}`)

  await createMissing(
    network.edgeRouterPolicies.map((body) => ({
      ...body,
      identityRoles: withIds(body.identityRoles, identities),
      edgeRouterRoles: withIds(body.edgeRouterRoles, edgeRouters),
    })),
    () => management.call('GET /edge-router-policies', all),
    (body) => management.call('POST /edge-router-policies', { body }),
  )
  tick(`edge router policies: ${namesOf(network.edgeRouterPolicies)}`)

  await createMissing(
    network.serviceEdgeRouterPolicies.map((body) => ({
      ...body,
      serviceRoles: withIds(body.serviceRoles, services),
      edgeRouterRoles: withIds(body.edgeRouterRoles, edgeRouters),
    })),
    () => management.call('GET /service-edge-router-policies', all),
    (body) => management.call('POST /service-edge-router-policies', { body }),
  )
  tick(`service edge router policies: ${namesOf(network.serviceEdgeRouterPolicies)}`)

  return { network, management, identities, services, postureChecks }
}

async function logInAsAdmin({ url, ca, admin }: ServedController): Promise<ApiClient<ManagementApi>> {
  const management = createManagementClient({ baseUrl: url, fetch: httpsFetch({ ca }) })
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: admin })
  return management.withToken(data.token)
}

interface Named {
  readonly name: string
}

/** Creates the entities whose names are not there yet; answers the ids of all that are there then. */
async function createMissing<Body extends Named>(
  bodies: readonly Body[],
  list: () => Promise<{ readonly data: readonly (Named & { readonly id: string })[] }>,
  create: (body: Body) => Promise<{ readonly data: { readonly id: string } }>,
): Promise<Ids> {
  const ids = new Map((await list()).data.map(({ name, id }) => [name, id]))
  for (const body of bodies) {
    if (!ids.has(body.name)) ids.set(body.name, (await create(body)).data.id)
  }
  return ids
}

/** Roles with ids in the place of names; a name that names nothing stays, and the controller will refuse it. */
function withIds(roles: readonly string[] | null | undefined, ids: Ids): string[] {
  return (roles ?? []).map((role) => (role.startsWith('@') ? `@${ids.get(role.slice(1)) ?? role.slice(1)}` : role))
}

function namesOf(entities: readonly Named[]): string {
  return entities.map(({ name }) => name).join(', ')
}
