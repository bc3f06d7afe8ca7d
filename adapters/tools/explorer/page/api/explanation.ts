import type { AnswerOf, PortcullisApi, RequestOf } from '../../../../../src/client/index.ts'
import type { Apis } from './apis.ts'

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
