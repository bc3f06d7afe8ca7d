import type { AnswerOf, ApiClient, ClientApi, RequestOf } from '../../../src/client/index.ts'
import { type EndpointFacts, postureResponses } from '../../../src/index.ts'
import type { FakeClock } from '../clock/fake-clock.ts'
import { type AuthenticatorApp, enrollInMfa, type KeptApp } from './authenticator-app.ts'

type PostureReport = RequestOf<ClientApi['POST /posture-response-bulk']>['body']

/** A service session. */
export type ServiceSession = AnswerOf<ClientApi['POST /sessions']>['data']

/** What an endpoint of an identity does: the client API, and what tests do with it most. */
export interface TestEndpoint extends ApiClient<ClientApi> {
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

/** What an endpoint needs of the controller that it belongs to. */
export interface EndpointSurroundings {
  readonly clock: FakeClock
  elapse(milliseconds: number): Promise<void>
  /** The id of a service, by id or name. */
  serviceId(service: string): Promise<string>
  /** The authenticator apps of the network, by the id of their identity. */
  readonly apps: Map<string, KeptApp>
}

/** An endpoint of an identity that speaks through a client of the client API. */
export function testEndpoint(
  api: ApiClient<ClientApi>,
  identityId: () => Promise<string>,
  surroundings: EndpointSurroundings,
): TestEndpoint {
  const open = async (service: string, type: 'Dial' | 'Bind') => {
    const serviceId = await surroundings.serviceId(service)
    return (await api.call('POST /sessions', { body: { serviceId, type } })).data
  }
  return {
    ...api,
    dial: (service) => open(service, 'Dial'),
    bind: (service) => open(service, 'Bind'),
    report: async (facts) => {
      // The request is typed as JSON that may be changed, which nobody does.
      const body = postureResponses(facts) as PostureReport
      await api.call('POST /posture-response-bulk', { body })
    },
    totp: async () => enrollInMfa(api, await identityId(), surroundings.apps, surroundings),
  }
}
