import {
  type AnswerOf,
  createManagementClient,
  createPortcullisClient,
  type PortcullisApi,
} from '../../../../src/client/index.ts'
import { httpsFetch } from '../../connection/https-fetch.ts'
import type { ExplainOptions } from './explain-options.ts'

/** The explanation, with its text. */
export type ExplainedAccess = AnswerOf<PortcullisApi['POST /explain']>['data']

/** Asks a running controller, as its admin, whether an identity may dial or bind a service; the answer in sentences. */
export async function explainAccess(options: ExplainOptions): Promise<ExplainedAccess> {
  const connection = { baseUrl: options.url, fetch: await httpsFetch(options.caFile) }
  const management = createManagementClient(connection)
  const login = { query: { method: 'password' as const }, body: options.admin }
  const { token } = (await management.call('POST /authenticate', login)).data
  try {
    const { identity, service, type } = options
    const portcullis = createPortcullisClient({ ...connection, token })
    return (await portcullis.call('POST /explain', { body: { identity, service, type } })).data
  } finally {
    await management.withToken(token).call('DELETE /current-api-session')
  }
}
