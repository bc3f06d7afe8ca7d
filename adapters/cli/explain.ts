import { createManagementClient, createPortcullisClient } from '../../src/client/index.ts'
import type { ExplainOptions } from './explain-options.ts'
import { httpsFetch } from './https-fetch.ts'

/** Asks a running controller, as its admin, whether an identity may dial or bind a service; the answer in sentences. */
export async function explainAccess(options: ExplainOptions): Promise<string> {
  const connection = { baseUrl: options.url, fetch: await httpsFetch(options.caFile) }
  const management = createManagementClient(connection)
  const login = { query: { method: 'password' as const }, body: options.admin }
  const { token } = (await management.call('POST /authenticate', login)).data
  try {
    const { identity, service, type } = options
    const portcullis = createPortcullisClient({ ...connection, token })
    return (await portcullis.call('POST /explain', { body: { identity, service, type } })).data.text
  } finally {
    await management.withToken(token).call('DELETE /current-api-session')
  }
}
