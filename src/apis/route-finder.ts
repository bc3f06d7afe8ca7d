import { ControllerError } from '../base/errors.ts'
import { type ApiPath, apiPathOf, Router } from '../http/pipeline/router.ts'
import { APIS, type ClientApi, type ManagementApi, type PortcullisApi } from './apis.ts'

/** A method and the template of a path, as operations of the APIs have them: `POST /sessions`. */
export type Route = keyof ClientApi | keyof ManagementApi | keyof PortcullisApi

/** The operation that a request asks for. */
export interface RequestedOperation {
  readonly api: ApiPath['api']
  readonly route: Route
  /** The texts that stand in its path for the names between braces. */
  readonly params: Readonly<Record<string, string>>
}

type Routers = Readonly<Record<ApiPath['api'], Router>>

let routers: Routers | undefined

/** Made when it is first asked for: few programs ask. */
function known(): Routers {
  routers ??= {
    client: Router.of(APIS.client),
    management: Router.of(APIS.management),
    fabric: Router.of(APIS.fabric),
    portcullis: Router.of(APIS.portcullis),
  }
  return routers
}

/** The operation of a method and a path of a controller; `undefined` for an unknown one, and for operations of OpenID Connect. */
export function operationAt(method: string, pathname: string): RequestedOperation | undefined {
  const { api, path } = apiPathOf(pathname)
  try {
    const { operation, params } = known()[api].match(method, path)
    // The rows of the APIs are the operations that the types list.
    return { api, route: operation.shape.route as Route, params }
  } catch (error) {
    if (error instanceof ControllerError) return undefined
    throw error
  }
}

/** Every known route, for advice about an unknown one. */
export function knownRoutes(): readonly string[] {
  return [...new Set(Object.values(APIS).flatMap((rows) => rows.map(({ shape }) => shape.route)))]
}
