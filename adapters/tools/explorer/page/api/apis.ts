import type { ApiClient, Fetch, ManagementApi, PortcullisApi } from '../../../../../src/client/index.ts'
import { createManagementClient, createPortcullisClient } from '../../../../../src/client/index.ts'
import { controllerUrl } from './controller-url.ts'

/** The APIs of the controller that served the page, as the identity that logged in. */
export interface Apis {
  readonly management: ApiClient<ManagementApi>
  readonly portcullis: ApiClient<PortcullisApi>
  /** Sends a request in the session, for streams and for answers that are shown unchanged. */
  readonly send: Fetch
}

/** Clients whose requests `send` puts into a session. */
export function apisThrough(send: Fetch): Apis {
  const options = { baseUrl: controllerUrl(), fetch: send }
  return { management: createManagementClient(options), portcullis: createPortcullisClient(options), send }
}
