import type { ConnectionInfo } from './connection.ts'
import type { PlainFetch } from './plain-exchange.ts'

/** The whole HTTP story of a controller: one web-standard function. It never rejects. */
export interface ControllerFetch {
  (request: Request, connection?: ConnectionInfo): Promise<Response>
  /** The same without web requests and responses, which the adapters for Node do without where it is there. */
  readonly plain?: PlainFetch
}

/** The same for web requests; whoever has no use for those asks its member `plain`. */
export function webFetch(
  plain: PlainFetch,
  readBody: (request: Request) => Promise<Uint8Array | undefined>,
): ControllerFetch {
  const fetch = async (request: Request, connection?: ConnectionInfo) => {
    const { method, url, headers } = request
    const answer = await plain({ method, url, headers, readBody: () => readBody(request) }, connection)
    const { status, body } = answer
    return new Response(body instanceof Uint8Array ? new Uint8Array(body) : body, { status, headers: answer.headers })
  }
  return Object.assign(fetch, { plain })
}
