import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request as open } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { checkControllerCertificate } from './controller-certificate.ts'

/** The authorities that a client trusts, and its own certificate for TLS; all PEM. */
export interface HttpsFetchOptions {
  /** The only authorities that it trusts. Default: the authorities of Node. */
  readonly ca?: string
  /** Its certificate, followed by intermediates. Default: no certificate. */
  readonly cert?: string
  /** The private key of `cert`. */
  readonly key?: string
}

/** Node reads invalid PEM as an empty list, and then trusts no server. */
function pemProblem(text: string): string | undefined {
  return text.includes('-----BEGIN ') ? undefined : "takes PEM, not a path: await readFile('ca.pem', 'utf8')"
}

const OPTIONS: OptionRules<HttpsFetchOptions> = {
  ca: { shape: 'string', problem: pemProblem },
  cert: { shape: 'string', problem: pemProblem },
  key: { shape: 'string', problem: pemProblem },
}

/**
 * A `fetch` that trusts a private authority and presents a client certificate, which the global one can do neither of; give it to the
 * clients of `portcullis/client`. Connections are kept for the next request, and hold no process alive. Redirects are answered, not
 * followed. An answer is read whole before the promise resolves, except a stream of events, which is delivered as it arrives until its body
 * or the request is cancelled.
 *
 * The promise rejects with the error of Node when the controller is unreachable or untrusted, for a server with the certificate of a router
 * (`ERR_TLS_CERT_ALTNAME_INVALID`), and with the reason of the request's `signal` when that is aborted.
 *
 * @example
 * const fetch = httpsFetch({ ca: await readFile('ca.pem', 'utf8'), cert, key })
 * const client = createClient({ baseUrl: 'https://controller.example.org:1280', fetch })
 * await client.call('POST /authenticate', { query: { method: 'cert' } })
 */
export function httpsFetch(options: HttpsFetchOptions = {}): (request: Request) => Promise<Response> {
  checkOptions('httpsFetch', options, OPTIONS)
  const agent = new Agent({ ...options, keepAlive: true, checkServerIdentity: checkControllerCertificate })
  return async (request) => {
    const { method, url, signal } = request
    const body = Buffer.from(await request.arrayBuffer())
    const length = body.length > 0 ? { 'content-length': body.length } : {}
    const headers = { ...Object.fromEntries(request.headers), ...length }
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(signal.aborted ? signal.reason : error)
      const outgoing = open(url, { agent, method, headers, signal }, (incoming) => {
        const status = incoming.statusCode ?? 502
        const received = { status, headers: headersOf(incoming.headers) }
        if (incoming.headers['content-type']?.startsWith('text/event-stream') === true) {
          resolve(new Response(eventsOf(incoming), received))
          return
        }
        const answer = (content: Uint8Array<ArrayBuffer>) =>
          // Some answers, 204 one of them, may not even have an empty body.
          new Response(content.length === 0 ? null : content, received)
        buffer(incoming).then((content) => resolve(answer(new Uint8Array(content))), fail)
      })
      outgoing.on('error', fail)
      outgoing.end(body)
    })
  }
}

/** The body of an answer as it arrives. */
function eventsOf(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start: (controller) => {
      incoming.on('data', (bytes: Buffer) => {
        controller.enqueue(new Uint8Array(bytes))
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
      })
      incoming.on('end', () => controller.close())
      incoming.on('error', (error) => controller.error(error))
    },
    pull: () => void incoming.resume(),
    cancel: () => void incoming.destroy(),
  })
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received)) {
    for (const line of [value ?? []].flat()) headers.append(name, line)
  }
  return headers
}
