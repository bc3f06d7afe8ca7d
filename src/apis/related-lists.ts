import type { Signature } from '../http/operations/operation.ts'
import type {
  EdgeRouter,
  EdgeRouterPolicy,
  Identity,
  PostureCheck,
  Service,
  ServiceEdgeRouterPolicy,
  ServicePolicy,
} from '../resources/wire-names.ts'

/** The entities of a list below another entity, by the end of its route. */
interface Listed {
  readonly identities: Identity
  readonly services: Service
  readonly 'edge-routers': EdgeRouter
  readonly 'service-policies': ServicePolicy
  readonly 'edge-router-policies': EdgeRouterPolicy
  readonly 'service-edge-router-policies': ServiceEdgeRouterPolicy
  readonly 'posture-checks': PostureCheck
}

/** The lists below each kind of entity that policies decide. */
interface Below {
  readonly identities: 'services' | 'edge-routers' | 'service-policies' | 'edge-router-policies'
  readonly services: 'identities' | 'edge-routers' | 'service-policies' | 'service-edge-router-policies'
  readonly 'edge-routers': 'identities' | 'services' | 'edge-router-policies' | 'service-edge-router-policies'
  readonly 'service-policies': 'identities' | 'services' | 'posture-checks'
  readonly 'edge-router-policies': 'identities' | 'edge-routers'
  readonly 'service-edge-router-policies': 'services' | 'edge-routers'
}

/** The routes of the lists of entities that policies bring together. */
export type RelatedRoute = { [Of in keyof Below]: `GET /${Of}/{id}/${Below[Of]}` }[keyof Below]

/** Those lists as typed clients know them: their rows are made of relations, so that nothing of it follows from the rows. */
export type RelatedLists = {
  readonly [Route in RelatedRoute]: Route extends `GET /${string}/{id}/${infer To extends keyof Listed}`
    ? Signature<Route, undefined, undefined, Listed[To], 'list'>
    : never
}
