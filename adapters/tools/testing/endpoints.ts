import { HOUR_MS } from '../../../src/base/time.ts'
import {
  type AnswerOf,
  type ApiClient,
  type ClientApi,
  createClient,
  type IdentityCreate,
  type ManagementApi,
  type RequestOf,
} from '../../../src/client/index.ts'
import type { ConnectionInfo, Controller, ControllerFetch } from '../../../src/index.ts'
import { type EndpointFacts, postureResponses } from '../../../src/policy.ts'
import { certificatesIn, createSigningRequest } from '../../network/enrollment/index.ts'
import { type AuthenticatorApp, enrollInMfa, type KeptApp } from './authenticator-app.ts'
import type { FakeClock } from './fake-clock.ts'

/** An endpoint that enrolled: it has a key and a certificate, and logs in with them. */
export interface TestDevice extends TestEndpoint {
  /** The id of its identity. */
  readonly id: string
  /** Its certificate, PEM. */
  readonly cert: string
  /** Its private key, PEM. */
  readonly key: string
  /** The network's trust bundle, PEM. */
  readonly ca: string
  /** How it shows its certificate in a TLS handshake. */
  readonly connection: ConnectionInfo
}

/** How an identity is created that is not there yet. */
export type NewIdentity = Partial<Omit<IdentityCreate, 'name' | 'enrollment'>>

/** The endpoints of the identities of a test controller. */
export interface Endpoints {
  /**
   * The client API as an identity, by name or id: as its device when it has enrolled a device, otherwise in an API session that needs no
   * credentials. Logs in with the first request, and again when the session has ended.
   */
  as(identity: string): TestEndpoint
  /**
   * Enrolls an identity, by name or id, with a key of its own, as a device does, and logs in by certificate with its first request. Creates
   * the identity when the name is unknown.
   */
  enroll(identity: string, fields?: NewIdentity): Promise<TestDevice>
}

interface EndpointsRequest extends EndpointPorts {
  readonly controller: Pick<Controller, 'engine' | 'fetch' | 'caPem'>
  readonly admin: ApiClient<ManagementApi>
  readonly baseUrl: string
  /** The way of an endpoint's requests, by the names of its identity. */
  wayOf(...names: readonly [string, ...string[]]): ControllerFetch
}

/** Keeps the endpoints of a test controller. */
export function endpoints({ controller, admin, baseUrl, wayOf, ...ports }: EndpointsRequest): Endpoints {
  const known = new Map<string, TestEndpoint>()
  const clientOver = (fetch: ControllerFetch, connection: ConnectionInfo, login: () => Promise<string>) =>
    createClient({ baseUrl, fetch: (request) => fetch(request, connection), login })

  const withoutCredentials = (identity: string) => {
    let known: string | undefined
    const identityId = async () => {
      known ??= await findIdentity(admin, identity)
      return known ?? identity
    }
    const login = async () => (await controller.engine.host.startSession(await identityId())).token
    return withId(refusingTraffic(testEndpoint(clientOver(wayOf(identity), {}, login), identityId, ports)), () => {
      if (known !== undefined) return known
      const place = `as(${JSON.stringify(identity)})`
      throw new Error(`the id of ${place} is known after its first request: await one, or take the id from enroll()`)
    })
  }
  return {
    as: (identity) => {
      const endpoint = known.get(identity) ?? withoutCredentials(identity)
      known.set(identity, endpoint)
      return endpoint
    },
    enroll: async (identity, fields = {}) => {
      const id = (await findIdentity(admin, identity)) ?? (await createIdentity(admin, identity, fields))
      const { name, token } = await invitation(admin, ports.clock.now(), id)
      const { key, csr } = await createSigningRequest(name)
      const fetch = wayOf(identity, id, name)
      const anonymous = createClient({ baseUrl, fetch: (request) => fetch(request) })
      const { cert } = (await anonymous.call('POST /enroll/ott', { body: { token, clientCsr: csr } })).data
      const connection = { clientCertificates: certificatesIn(cert) }
      const device = refusingTraffic({
        ...testEndpoint(
          clientOver(fetch, connection, () => logInByCertificate(fetch, baseUrl, connection)),
          async () => id,
          ports,
        ),
        ...{ id, cert, key, ca: controller.caPem, connection },
      })
      for (const called of [identity, id, name]) known.set(called, device)
      return device
    },
  }
}

async function logInByCertificate(fetch: ControllerFetch, baseUrl: string, connection: ConnectionInfo) {
  const client: ApiClient<ClientApi> = createClient({ baseUrl, fetch: (request) => fetch(request, connection) })
  return (await client.call('POST /authenticate', { query: { method: 'cert' }, body: {} })).data.token
}

/** The id of an identity, by id or name; undefined when it is unknown. */
async function findIdentity(admin: ApiClient<ManagementApi>, identity: string): Promise<string | undefined> {
  return (await admin.call('GET /identities', { query: byIdOrName(identity) })).data[0]?.id
}

async function createIdentity(admin: ApiClient<ManagementApi>, name: string, fields: NewIdentity): Promise<string> {
  const body = { type: 'Device' as const, isAdmin: false, ...fields, name }
  return (await admin.call('POST /identities', { body })).data.id
}

/** The one-time token of an identity; a new token if it has none. */
async function invitation(admin: ApiClient<ManagementApi>, now: number, identityId: string) {
  const shown = async () => (await admin.call('GET /identities/{id}', { params: { id: identityId } })).data
  const { name, enrollment } = await shown()
  if (enrollment.ott?.token) return { name, token: enrollment.ott.token }
  const expiresAt = new Date(now + HOUR_MS).toISOString()
  await admin.call('POST /enrollments', { body: { identityId, method: 'ott', expiresAt } })
  return { name, token: (await shown()).enrollment.ott?.token ?? '' }
}

type PostureReport = RequestOf<ClientApi['POST /posture-response-bulk']>['body']

/** A service session. */
export type ServiceSession = AnswerOf<ClientApi['POST /sessions']>['data']

/** The endpoint of an identity: the client API, and the actions that tests take with it most. */
export interface TestEndpoint extends ApiClient<ClientApi> {
  /**
   * The id of its identity. Throws an `Error` before the endpoint has enrolled or logged in, which its first request does: until
   * then it is known by the name that the test gave it.
   */
  readonly id: string
  /** Opens a Dial session for a service, by name or id. Rejects with the `ApiError` of the refusal. */
  dial(service: string): Promise<ServiceSession>
  /** Opens a Bind session for a service, by name or id. Rejects with the `ApiError` of the refusal. */
  bind(service: string): Promise<ServiceSession>
  /** Reports the posture of the endpoint; sessions that no policy carries any more are gone when it resolves. */
  report(facts: EndpointFacts): Promise<void>
  /**
   * Enrolls the identity in MFA, which its API session has passed then; the app that it has, where this or an earlier controller
   * of the same network enrolled it.
   */
  totp(): Promise<AuthenticatorApp>
}

/** The parts of the controller that an endpoint needs. */
export interface EndpointPorts {
  readonly clock: FakeClock
  elapse(milliseconds: number): Promise<void>
  /** The id of a service, by id or name. */
  serviceId(service: string): Promise<string>
  /** The authenticator apps of the network, by the id of their identity. */
  readonly apps: Map<string, KeptApp>
}

/** An endpoint of an identity that speaks through a client of the client API. */
function testEndpoint(
  api: ApiClient<ClientApi>,
  identityId: () => Promise<string>,
  ports: EndpointPorts,
): Omit<TestEndpoint, 'id'> {
  const open = async (service: string, type: 'Dial' | 'Bind') => {
    const serviceId = await ports.serviceId(service)
    return (await api.call('POST /sessions', { body: { serviceId, type } })).data
  }
  return {
    ...api,
    dial: (service) => open(service, 'Dial'),
    bind: (service) => open(service, 'Bind'),
    report: async (facts) => {
      if (facts.processes?.length === 0) {
        throw new TypeError(
          'processes is empty, which reports nothing: report a process that has ended with isRunning: false',
        )
      }
      // The request has the type of mutable JSON, but is never changed.
      const body = postureResponses(facts) as PostureReport
      await api.call('POST /posture-response-bulk', { body })
    },
    totp: async () => enrollInMfa(api, await identityId(), ports.apps, ports),
  }
}

/** Adds the id of its identity to an endpoint. It is not enumerable: copies and prints of the endpoint leave it out. */
export function withId<Endpoint extends object>(
  endpoint: Endpoint,
  id: () => string,
): Endpoint & { readonly id: string } {
  return Object.defineProperty(endpoint, 'id', { get: id }) as Endpoint & { readonly id: string }
}

/** Without a router, `dial` and `host` of an endpoint fail with a clear message, for programs without types. */
function refusingTraffic<Endpoint extends object>(endpoint: Endpoint): Endpoint {
  const refuse = (member: string): never => {
    throw new Error(`${member} needs a router: createTestController({ router: true }). A fork has no router`)
  }
  return Object.defineProperties(endpoint, {
    host: { value: async () => refuse('host') },
    fetch: { value: async () => refuse('fetch') },
    agent: { get: () => refuse('agent') },
  })
}

/** The query of a list that finds an entity by its id or name. */
export function byIdOrName(idOrName: string): { readonly filter: string; readonly limit: number } {
  const quoted = JSON.stringify(idOrName)
  return { filter: `id = ${quoted} or name = ${quoted}`, limit: 1 }
}
