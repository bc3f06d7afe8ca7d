import { fileURLToPath } from 'node:url'
import type { ManagementApi, RequestOf } from 'portcullis/client'
import { readModel } from 'portcullis/model'

type Body<R extends keyof ManagementApi & string> = RequestOf<ManagementApi[R]>['body']

/** The model of a network: the bodies of create requests, with `@name` where the API takes `@id`. */
export interface Network {
  readonly identities: readonly Body<'POST /identities'>[]
  readonly services: readonly Body<'POST /services'>[]
  readonly edgeRouters: readonly Body<'POST /edge-routers'>[]
  readonly postureChecks: readonly Body<'POST /posture-checks'>[]
  readonly servicePolicies: readonly Body<'POST /service-policies'>[]
  readonly edgeRouterPolicies: readonly Body<'POST /edge-router-policies'>[]
  readonly serviceEdgeRouterPolicies: readonly Body<'POST /service-edge-router-policies'>[]
}

/** Reads `network.yaml` by the declarations of the API; a mistake in it is told with its line. */
export async function readNetwork(): Promise<Network> {
  const { entities } = await readModel(fileURLToPath(new URL('network.yaml', import.meta.url)))
  const bodiesOf = (kind: keyof Network) => entities.filter(({ key }) => key === kind).map(({ body }) => body)
  const network = {
    identities: bodiesOf('identities'),
    services: bodiesOf('services'),
    edgeRouters: bodiesOf('edgeRouters'),
    postureChecks: bodiesOf('postureChecks'),
    servicePolicies: bodiesOf('servicePolicies'),
    edgeRouterPolicies: bodiesOf('edgeRouterPolicies'),
    serviceEdgeRouterPolicies: bodiesOf('serviceEdgeRouterPolicies'),
  }
  // Each was read as the body of the request that its name stands for.
  return network as unknown as Network
}
