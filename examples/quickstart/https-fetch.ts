import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request as openRequest } from 'node:https'
import type { Fetch } from 'portcullis/client'

/** What a device shows of itself in TLS, both PEM: its certificate, followed by intermediates, and its private key. */
export interface DeviceCertificate {
  readonly cert: string
  readonly key: string
}

/**
 * A `fetch` that trusts the authorities in `ca` (PEM) and no others, and presents a client certificate when given one:
 * the global `fetch` can do neither.
 */
export function httpsFetch(ca: string, device?: DeviceCertificate): Fetch {
  const agent = new Agent({ ca, ...device, keepAlive: true })
  return async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    const headers = { ...Object.fromEntries(request.headers), 'content-length': body.length }
    const outgoing = openRequest(request.url, { agent, method: request.method, headers })
    outgoing.end(body)
    const [incoming]: IncomingMessage[] = await once(outgoing, 'response')
    if (incoming === undefined) throw new Error('no response')
    const content = Buffer.concat(await incoming.toArray())
    return new Response(content.length === 0 ? null : content, {
      status: incoming.statusCode ?? 0,
      headers: { 'content-type': incoming.headers['content-type'] ?? '' },
    })
  }
}
