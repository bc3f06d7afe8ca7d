import type { OpenOperatorSession } from '../facts/fabric/messages/index.ts'

/** A request in plain values, without the streams of a web `Request`. */
export interface PlainRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: Headers
  /** The whole body; `undefined` when there is none. Rejects when it cannot be read. */
  readBody(): Promise<Uint8Array | undefined> | Uint8Array | undefined
}

/** An answer in plain values. */
export interface PlainAnswer {
  readonly status: number
  /** By lower-case name, each as it may stand in a web `Headers`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
  /** Where the connection may go on as a channel of an operator's program; an adapter that cannot do that sends the rest. */
  readonly upgrade?: OpenOperatorSession | undefined
}

/** A function that answers a request as a controller does. It never rejects. */
export type PlainFetch = (request: PlainRequest, connection?: ConnectionInfo) => Promise<PlainAnswer>

/** The whole HTTP side of a controller: one web-standard function. It never rejects. */
export interface ControllerFetch {
  (request: Request, connection?: ConnectionInfo): Promise<Response>
  /** The same without web requests and responses. The adapters for Node use it where it is present. */
  readonly plain?: PlainFetch
}

/** The same for web requests; an adapter that does not need them asks its member `plain`. */
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

/** The facts that an adapter knows of the connection that carried a request. */
export interface ConnectionInfo {
  /** The peer's IP address, without port. */
  readonly remoteAddress?: string
  /** The client's certificates as presented in the TLS handshake: DER, leaf first. */
  readonly clientCertificates?: readonly Uint8Array[]
}
