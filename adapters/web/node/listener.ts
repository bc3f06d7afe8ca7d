import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkOf } from '../../../src/base/addresses.ts'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { callIsolated } from '../../../src/concurrency/call-isolated.ts'
import { createFairCapacity } from '../../../src/concurrency/fair-capacity.ts'
import type { ConnectionInfo, ControllerFetch } from '../../../src/index.ts'
import { connectionInfo } from './connection-info.ts'
import { oneAtATime } from './http/body.ts'
import { errorResponse, RequestAborted, RequestRefused, sendEarlyResponse } from './http/early-response.ts'
import { type ReadRequest, readRequest, webRequest } from './http/request.ts'
import {
  plainAnswer,
  type SentAnswer,
  type SentStream,
  sendAnswer,
  sendResponse,
  sendStream,
  streamOf,
  webAnswer,
} from './http/response.ts'
import { positive } from './tracked-connections.ts'

/** How a controller is put behind a Node server. */
export interface ListenerOptions {
  /** The largest request body accepted, in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number
  /**
   * The memory, in bytes, that request bodies may take while they arrive; 32 MiB unless given. Beyond it, the address with the most bytes
   * loses the body that has been arriving for longest (429): slow clients never delay others.
   */
  readonly maxArrivingBytes?: number
  /**
   * The memory, in bytes, that answers may take until clients have read them; 64 MiB unless given. Beyond it, the address with the most
   * unsent bytes loses the connection that has been reading for longest.
   */
  readonly maxUnsentBytes?: number
  /** How much of it one address may have, an IPv6 address being its first 64 bits; half of `maxUnsentBytes` unless given. */
  readonly maxUnsentBytesPerAddress?: number
  /**
   * How long (ms) a client may take to read an answer; 30 s unless given. `leastBytesPerSecond` adds time for a long answer. Then the
   * client loses its connection.
   */
  readonly answerTimeoutMs?: number
  /** How fast an answer must be read after that time at least, in bytes a second; 32 KiB unless given. */
  readonly leastBytesPerSecond?: number
  /**
   * Where the connection's facts come from when TLS ends in front of this process; the socket itself unless given.
   * There is no default header for them: a header that anyone can send would be a forged certificate.
   */
  readonly connectionInfo?: (incoming: IncomingMessage) => ConnectionInfo
  /** The headers of answers that do not come from the controller: its own `answerHeaders`. Default: none. */
  readonly answerHeaders?: () => Readonly<Record<string, string>>
  /** Called with every exception behind a masked 500 answer; a process warning unless given. */
  readonly onError?: (error: unknown) => void
}

/** Rules of the options, one for each. */
export const LISTENER_OPTIONS: OptionRules<ListenerOptions> = {
  maxBodyBytes: 'number',
  maxArrivingBytes: 'number',
  maxUnsentBytes: 'number',
  maxUnsentBytesPerAddress: 'number',
  answerTimeoutMs: 'number',
  leastBytesPerSecond: 'number',
  connectionInfo: 'function',
  answerHeaders: 'function',
  onError: 'function',
}

/** A request listener of `node:http` or `node:https`, equally an Express handler. */
export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const DEFAULT_MAX_ARRIVING_BYTES = 33_554_432
const DEFAULT_MAX_UNSENT_BYTES = 67_108_864
const DEFAULT_ANSWER_TIMEOUT_MS = 30_000
const DEFAULT_LEAST_BYTES_PER_SECOND = 32_768

/**
 * A request listener that answers with a controller. Over-large bodies (413) and compressed ones (415) are refused
 * before the controller sees the request, and an exception of the controller is answered by a masked 500. The requests of
 * one connection are answered one after the other.
 *
 * @example
 * createServer(tlsOptions(controller.tls()), createListener(controller.fetch)).listen(1280)
 * @throws RangeError for a limit that is no positive number.
 */
export function createListener(fetch: ControllerFetch, options: ListenerOptions = {}): Listener {
  const hint = 'the fetch of a controller: createListener(controller.fetch)'
  checkArgument('createListener', 'fetch', fetch, { shape: 'function', isNeeded: true, hint })
  checkOptions('createListener', options, LISTENER_OPTIONS)
  const infoOf = options.connectionInfo ?? connectionInfo
  const answerOf = answering(fetch)
  const onError = (error: unknown) => callIsolated(() => (options.onError ?? warn)(error), warn)
  const arriving = createFairCapacity({
    total: positive('maxArrivingBytes', options.maxArrivingBytes ?? DEFAULT_MAX_ARRIVING_BYTES),
  })
  const maxUnsentBytes = positive('maxUnsentBytes', options.maxUnsentBytes ?? DEFAULT_MAX_UNSENT_BYTES)
  const usual = Math.ceil(maxUnsentBytes / 2)
  const unsent = createFairCapacity({
    total: maxUnsentBytes,
    perNetwork: positive('maxUnsentBytesPerAddress', options.maxUnsentBytesPerAddress ?? usual),
  })
  const pace = {
    timeoutMs: positive('answerTimeoutMs', options.answerTimeoutMs ?? DEFAULT_ANSWER_TIMEOUT_MS),
    bytesPerSecond: positive('leastBytesPerSecond', options.leastBytesPerSecond ?? DEFAULT_LEAST_BYTES_PER_SECOND),
  }
  const withHeaders = (response: Response) => {
    for (const [name, value] of Object.entries(options.answerHeaders?.() ?? {})) response.headers.set(name, value)
    return response
  }

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    try {
      // Taken first: a connection that closes while the body arrives forgets its peer.
      const connection = infoOf(incoming)
      const { remoteAddress } = connection
      const request = await readRequest(incoming, options, { arriving, remoteAddress })
      const reading = { capacity: unsent, network: networkOf(remoteAddress ?? ''), ...pace }
      const sent = await answerOf(request, connection)
      if ('stream' in sent) return sendStream(sent, outgoing, reading)
      sendAnswer(sent, outgoing, reading)
    } catch (error) {
      if (error instanceof RequestAborted) return void outgoing.destroy()
      if (error instanceof RequestRefused) return sendEarlyResponse(withHeaders(error.response), incoming, outgoing)
      onError(error)
      await sendResponse(withHeaders(errorResponse(500, 'UNHANDLED', 'An unhandled error occurred')), outgoing)
    }
  }

  return oneAtATime((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      // Reached when even the answer to a failure failed: the client must not wait.
      outgoing.destroy()
      warn(error)
    })
  })
}

/** Asks a controller without a detour by web requests and responses, any other function by them. */
function answering(
  fetch: ControllerFetch,
): (request: ReadRequest, connection: ConnectionInfo) => Promise<SentAnswer | SentStream> {
  const { plain } = fetch
  if (plain === undefined) {
    return async (request, connection) => {
      const response = await fetch(webRequest(request), connection)
      return streamOf(response) ?? webAnswer(response)
    }
  }
  return async (request, connection) => plainAnswer(await plain(request, connection))
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)))
}
