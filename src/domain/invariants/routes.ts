import type { RoleSelector } from '../roles.ts'
import { smallest } from './demand.ts'
import type { Invariant, PolicySet, Witness } from './invariant.ts'

/** A way to an edge router that matters: the lists by which an identity and a service come to it. */
export interface Route {
  readonly identityList: RoleSelector | undefined
  readonly serviceList: RoleSelector | undefined
  /** The smallest edge router on the way. */
  readonly edgeRouter: Witness | undefined
  readonly policies: readonly { readonly id: string; readonly name: string }[]
}

/** Without `via` edge routers do not matter: one way, that asks for nothing. */
const ANYWAY: Route = { identityList: undefined, serviceList: undefined, edgeRouter: undefined, policies: [] }

/** The ways to an edge router of `via`: each edge router policy with each service edge router policy that meets it there. */
export function routesOf({ via }: Invariant, policies: PolicySet): readonly Route[] {
  if (via === undefined) return [ANYWAY]
  const routers = new Map(policies.edgeRouters.map((router) => [router.id, router]))
  const routes: Route[] = []
  for (const ofIdentities of policies.edgeRouterPolicies) {
    const identityList = { roles: ofIdentities.identityRoles, semantic: ofIdentities.semantic }
    for (const ofServices of policies.serviceEdgeRouterPolicies) {
      const selectedBy = [
        via,
        { roles: ofIdentities.edgeRouterRoles, semantic: ofIdentities.semantic },
        { roles: ofServices.edgeRouterRoles, semantic: ofServices.semantic },
      ]
      const router = smallest({ selectedBy, exceptedBy: undefined }, routers)
      if (router === undefined) continue
      const { id, name, roleAttributes } = router
      const serviceList = { roles: ofServices.serviceRoles, semantic: ofServices.semantic }
      const edgeRouter = { id, name, roleAttributes }
      routes.push({ identityList, serviceList, edgeRouter, policies: [ofIdentities, ofServices] })
    }
  }
  return routes
}
