import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConnectionInfo, ControllerFetch } from '../../src/index.ts'
import { connectionInfo } from './connection-info.ts'
import { sendEarlyResponse } from './early-response.ts'
import { errorResponse } from './error-envelope.ts'
import { RequestAborted, RequestRefused } from './refusal.ts'
import { toRequest } from './request.ts'
import { sendResponse } from './response.ts'

/** How a controller is put behind a Node server. */
export interface ListenerOptions {
  /** The largest request body accepted, in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number
  /**
   * Where the connection's facts come from when TLS ends in front of this process; the socket itself unless given.
   * There is no default header for them: a header that anyone can send would be a forged certificate.
   */
  readonly connectionInfo?: (incoming: IncomingMessage) => ConnectionInfo
  /** The headers of answers that do not come from the controller: its own `answerHeaders`. Default: none. */
  readonly answerHeaders?: () => Readonly<Record<string, string>>
  /** Told of every exception behind a masked 500 answer; a process warning unless given. */
  readonly onError?: (error: unknown) => void
}

/** A request listener of `node:http` or `node:https`, equally an Express handler. */
export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/**
 * A request listener that answers with a controller. Over-large bodies (413) and compressed ones (415) are refused
 * before the controller sees the request, and an exception of the controller is answered by a masked 500.
 */
export function createListener(fetch: ControllerFetch, options: ListenerOptions = {}): Listener {
  const infoOf = options.connectionInfo ?? connectionInfo
  const onError = options.onError ?? warn
  const withHeaders = (response: Response) => {
    for (const [name, value] of Object.entries(options.answerHeaders?.() ?? {})) response.headers.set(name, value)
    return response
  }

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    try {
      // Taken first: a connection that closes while the body arrives forgets its peer.
      const connection = infoOf(incoming)
      const request = await toRequest(incoming, options)
      await sendResponse(await fetch(request, connection), outgoing)
    } catch (error) {
      if (error instanceof RequestAborted) return
      if (error instanceof RequestRefused) return sendEarlyResponse(withHeaders(error.response), incoming, outgoing)
      onError(error)
      await sendResponse(withHeaders(errorResponse(500, 'UNHANDLED', 'An unhandled error occurred')), outgoing)
    }
  }

  return (incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      // Reached when even the answer to a failure failed; the client must not wait for one.
      outgoing.destroy()
      warn(error)
    })
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)))
}
