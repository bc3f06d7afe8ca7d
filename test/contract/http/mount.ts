import type { FakeClock, TestController, TestControllerOptions } from 'portcullis/testing'

/** A client certificate chain, leaf first, with the leaf's private key; both PEM. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

/** A request as it is to be sent: nothing is added to its headers, and the path is not normalised. */
export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Further lines of the header `authorization`, each on its own. */
  readonly authorizations?: readonly string[]
}

/** A controller that somehow answers HTTP requests. */
export interface MountedController {
  /** Scheme and authority under which it answers, without a path. */
  readonly url: string
  /** Sends a request to a path (with query) as a client that holds a certificate, or none. */
  fetch(path: string, request?: RawRequest, client?: ClientCertificate): Promise<Response>
  readonly controller: TestController
  readonly clock: FakeClock
  dispose(): Promise<void>
}

/** Mounts a fresh test controller, whose admin is `TEST_ADMIN`. */
export type Mount = (options?: TestControllerOptions) => Promise<MountedController>
