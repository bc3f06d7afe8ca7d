import { AsyncLocalStorage } from 'node:async_hooks'
import type { ControllerFetch, HostAuthorization } from '../../../src/index.ts'
import { operationAt, type Route } from '../../../src/testing.ts'

/** A request that a test controller was asked, and its end. */
export interface RecordedRequest {
  /** The operation of the request; undefined for an unknown method or path. */
  readonly route: Route | undefined
  readonly api: 'management' | 'client' | 'fabric' | 'portcullis' | undefined
  readonly params: Readonly<Record<string, string>>
  readonly method: string
  readonly path: string
  /** The controller's clock when it came, epoch milliseconds. */
  readonly at: number
  /** The identity of the session; undefined without a session, and for a request that was refused before its caller was known. */
  readonly identityId: string | undefined
  /** Undefined while it is under way, and where its connection broke. */
  readonly status: number | undefined
}

/** The least number of requests that are remembered; beyond it the oldest are forgotten. */
const MOST_KEPT = 10_000

/** Requests after which the oldest are forgotten together: to forget each by itself would move all others each time. */
const FORGOTTEN_TOGETHER = 1000

type Noted = { -readonly [Member in keyof RecordedRequest]: RecordedRequest[Member] }

/** The requests of a controller, and the places where each is noted. */
export interface RequestRecord {
  /** In the order in which they came. */
  readonly requests: readonly RecordedRequest[]
  around(fetch: ControllerFetch, clock: { now(): number }): ControllerFetch
  /** The authorization of a host, which gets the caller. */
  authorize(own: HostAuthorization | undefined): HostAuthorization
}

/** A record that nothing was noted in yet. */
export function requestRecord(): RequestRecord {
  const requests: Noted[] = []
  const current = new AsyncLocalStorage<Noted>()
  return {
    requests,
    around: (fetch, clock) => async (request, connection) => {
      const { method } = request
      const { pathname: path } = new URL(request.url)
      const { route, api, params = {} } = operationAt(method, path) ?? {}
      const noted: Noted = {
        ...{ route, api, params, method, path, at: clock.now(), identityId: undefined, status: undefined },
      }
      requests.push(noted)
      if (requests.length >= MOST_KEPT + FORGOTTEN_TOGETHER) requests.splice(0, requests.length - MOST_KEPT)
      const response = await current.run(noted, () => fetch(request, connection))
      noted.status = response.status
      return response
    },
    authorize: (own) => (asked) => {
      const noted = current.getStore()
      if (noted !== undefined) noted.identityId = asked.caller.identityId
      return own === undefined || own(asked)
    },
  }
}
