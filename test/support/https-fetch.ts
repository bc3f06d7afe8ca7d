import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request as send } from 'node:https'
import type { ClientCertificate, RawRequest } from '../contract/http/mount.ts'

/**
 * Sends requests to one HTTPS server of this machine, as clients that hold certificates. The server's certificate must
 * lead to `ca`; without one any is taken, as by a device that knows nothing yet.
 */
export function httpsClient({ port, ca }: { readonly port: number; readonly ca?: string }) {
  const agents = new Map<string, Agent>()
  const agentOf = (client: ClientCertificate | undefined) => {
    const known = agents.get(client?.cert ?? '')
    if (known !== undefined) return known
    const agent = new Agent({
      keepAlive: true,
      ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
      ...client,
    })
    agents.set(client?.cert ?? '', agent)
    return agent
  }
  return {
    fetch: (path: string, request: RawRequest = {}, client?: ClientCertificate) => {
      const { method = 'GET', headers = {}, body, authorizations } = request
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { host: '127.0.0.1', port, path, method, headers: { ...length, ...headers } }
      return exchange({ ...options, agent: agentOf(client) }, body, authorizations)
    },
    close: () => {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

/** A server may answer, and stop reading, before it has the whole request; what fails after that does not matter. */
async function exchange(
  options: RequestOptions,
  body: string | Uint8Array | undefined,
  lines: readonly string[] = [],
): Promise<Response> {
  const outgoing = send(options)
  if (lines.length > 0) outgoing.setHeader('authorization', [...lines])
  outgoing.end(body)
  const [incoming]: IncomingMessage[] = await once(outgoing, 'response')
  outgoing.on('error', () => undefined)
  if (incoming === undefined) throw new Error('no response')
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const line of [value ?? []].flat()) headers.append(name, line)
  }
  const content = Buffer.concat(chunks)
  return new Response(content.length === 0 ? null : content, { status: incoming.statusCode ?? 0, headers })
}
