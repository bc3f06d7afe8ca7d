import { SYSTEM_CALL } from 'portcullis'
import type { TestController } from 'portcullis/testing'

/** Adds what lets `#staff`, and nobody else, dial a service `wiki` over a router of all. Answers the id of the service. */
export async function letStaffDial(net: TestController): Promise<string> {
  const wiki = await net.engine.services.create(SYSTEM_CALL, { name: 'wiki', encryptionRequired: true })
  const policy = { type: 'Dial' as const, semantic: 'AnyOf' as const, identityRoles: ['#staff'] }
  await net.engine.servicePolicies.create(SYSTEM_CALL, { ...policy, name: 'staff', serviceRoles: [`@${wiki.id}`] })
  const routers = { semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
  await net.engine.edgeRouterPolicies.create(SYSTEM_CALL, { ...routers, name: 'all', identityRoles: ['#all'] })
  await net.engine.serviceEdgeRouterPolicies.create(SYSTEM_CALL, { ...routers, name: 'all', serviceRoles: ['#all'] })
  await net.engine.edgeRouters.create(SYSTEM_CALL, { name: 'router' })
  return wiki.id
}
