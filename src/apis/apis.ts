import type { z } from 'zod'
import type {
  EdgeRouter,
  EdgeRouterPolicy,
  Identity,
  PostureCheck,
  Service,
  ServiceEdgeRouterPolicy,
  ServicePolicy,
} from '../facts/resources/wire-names.ts'
import type { Operation, Signature } from '../http/operations/operation.ts'
import * as client from './client-api.ts'
import type { EnrolledSomehow } from './enrollment/enrollment-forms.rows.ts'
import * as fabric from './fabric-api.ts'
import * as management from './management-api.ts'
import type { Controller as ControllerData } from './network/controllers.rows.ts'
import type { VersionInfo as Version } from './network/version.rows.ts'
import * as portcullis from './portcullis-api.ts'

/** A row of an API, or rows that belong together. */
type Rows = Operation | readonly Operation[] | { readonly [name: string]: Operation }

/** An API as a module: its exports are its rows. */
interface ApiModule {
  readonly [name: string]: Rows
}

/** The rows of an API. A row that its module does not export is not served. */
function rowsOf(api: ApiModule): readonly Operation[] {
  return Object.values(api).flatMap((rows) => (isRow(rows) ? [rows] : Object.values(rows)))
}

function isRow(rows: Rows): rows is Operation {
  return 'shape' in rows && 'handle' in rows
}

type RowsIn<Export> = Export extends Operation
  ? Export
  : Export extends readonly (infer Row)[]
    ? Row
    : Export[keyof Export]

type SignatureOf<Row> =
  Row extends Operation<infer Route, infer Query, infer Body, infer Data, infer Kind>
    ? Signature<Route, Query, Body, Data, Kind>
    : never

/** The rows of an API as typed clients know them, by route. Rows whose route is computed are served, but not typed. */
type RoutesOf<Api> = {
  readonly [S in SignatureOf<{ [Name in keyof Api]: RowsIn<Api[Name]> }[keyof Api]> as IsLiteral<
    S['route']
  > extends true
    ? S['route']
    : never]: S
}
type IsLiteral<T extends string> = Record<never, never> extends Record<T, 1> ? false : true

/** The rows of every API. */
export const APIS = {
  client: rowsOf(client),
  management: rowsOf(management),
  fabric: rowsOf(fabric),
  portcullis: rowsOf(portcullis),
} as const

/** A controller of the network. */
export type Controller = z.input<typeof ControllerData>
/** The certificates and the controllers that an enrolled identity gets, by the method of its enrollment. */
export type Enrolled = z.input<typeof EnrolledSomehow>
/** The software of a controller, and the APIs that it serves. */
export type VersionInfo = z.input<typeof Version>

/** The operations of the client API as typed clients know them, by route. */
export interface ClientApi extends RoutesOf<typeof client> {}
export interface ManagementApi extends RoutesOf<typeof management>, RelatedLists {}
export interface PortcullisApi extends RoutesOf<typeof portcullis> {}

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

/** Those lists as typed clients know them. Their rows are made of relations, so that their types cannot follow from the rows. */
type RelatedLists = {
  readonly [Route in RelatedRoute]: Route extends `GET /${string}/{id}/${infer To extends keyof Listed}`
    ? Signature<Route, undefined, undefined, Listed[To], 'list'>
    : never
}
