import type { ClientOptions } from '../../../src/client/index.ts'
import type { ModelInput, NetworkModel } from '../../model/index.ts'

/** Everybody may use this router for everything: a test is seldom about routers, and a session needs one. */
const ROUTER_FOR_ALL: NetworkModel = {
  edgeRouters: [{ name: 'router' }],
  edgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] }],
  serviceEdgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }],
}

/** Applies a model to a controller, as its admin; where there is no edge router then, one that serves everybody as well. */
export async function seedNetwork(admin: ClientOptions & { readonly token: string }, model: ModelInput): Promise<void> {
  // Loaded here because most tests make their network by calls.
  const { applyModel, readModel, readNetwork } = await import('../../model/index.ts')
  await applyModel(admin, await readModel(model))
  const { entities } = await readNetwork(admin)
  if (entities.some(({ key }) => key === 'edgeRouters')) return
  await applyModel(admin, await readModel(ROUTER_FOR_ALL))
}
