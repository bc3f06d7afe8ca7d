import {
  type AnswerOf,
  type ApiClient,
  createManagementClient,
  createPortcullisClient,
  type Fetch,
  type ManagementApi,
  type PortcullisApi,
  type RequestOf,
} from '../../../../../src/client/index.ts'

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

/** The base URL of the controller that served the page: the part before the path of the page, without a slash at the end. */
export function controllerUrl(): string {
  return new URL('../..', document.baseURI).href.replace(/\/$/, '')
}

/** Why, or why not, as the controller answers it. */
export type Explanation = AnswerOf<PortcullisApi['POST /explain']>['data']
export type PolicyExplanation = Explanation['policies'][number]
export type CheckExplanation = PolicyExplanation['checks'][number]
export type Suggestion = Explanation['suggestions'][number]

/** The identity, the service and the circumstances of a question. */
export type Question = NonNullable<RequestOf<PortcullisApi['POST /explain']>['body']>

export async function explain({ portcullis }: Apis, body: Question, signal: AbortSignal): Promise<Explanation> {
  return (await portcullis.call('POST /explain', { body, signal })).data
}
