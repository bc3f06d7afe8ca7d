import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { withoutPrefix } from './mount-prefix.ts'

const HOST_PATTERN = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const ABSOLUTE_TARGET = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/**
 * The absolute URL that a request asks for. The authority is the Host header when that is a plain host and port, else
 * `localhost`; the path is the one that the client sent (`originalUrl`), without the prefix below which the controller is
 * mounted (`baseUrl`) unless that is a path of its own.
 * A target such as `//other.example/` stays a path: it never names another host.
 */
export function requestUrl(incoming: IncomingMessage): string {
  const scheme = incoming.socket instanceof TLSSocket ? 'https' : 'http'
  return `${scheme}://${authority(incoming.headers.host, scheme)}${pathOf(targetOf(incoming))}`
}

function authority(host: string | undefined, scheme: string): string {
  const isPlain = host !== undefined && HOST_PATTERN.test(host) && URL.canParse(`${scheme}://${host}/`)
  return isPlain ? host : 'localhost'
}

function targetOf(incoming: IncomingMessage): string {
  if (!('originalUrl' in incoming) || typeof incoming.originalUrl !== 'string') return incoming.url ?? '/'
  const prefix = 'baseUrl' in incoming ? String(incoming.baseUrl) : ''
  return withoutPrefix(incoming.originalUrl.replace(ABSOLUTE_TARGET, ''), prefix)
}

function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE_TARGET, '')
  return path.startsWith('/') ? path : `/${path}`
}
