import type { IncomingMessage } from 'node:http'

/** The problem of a request that two readers could take for different requests; undefined for a clear one. */
export function framingProblem({ headers, rawHeaders, url = '' }: IncomingMessage): string | undefined {
  if (!/^\/[^#\s]*$/.test(url)) return 'The target of a request is a path.'
  for (const name of ['host', 'content-length', 'transfer-encoding']) {
    if (countOf(rawHeaders, name) > 1) return `The request has ${name} more than once.`
  }
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (length !== undefined && encoding !== undefined) return 'The request gives its length twice.'
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return 'The length of the request is no number.'
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return 'The request is sent in an unknown encoding.'
  return undefined
}

/**
 * Why a request is refused that a page of another origin caused; undefined for other requests. Cookies alone do not tell: apps of one
 * gateway are one site to browsers, so that a page of one app could act at another.
 *
 * A page of another origin may lead the browser to an app (a link, GET, at the top of a window), and cause nothing else.
 */
export function crossSiteProblem(incoming: IncomingMessage, origin: string, isUpgrade: boolean): string | undefined {
  const { headers, method = 'GET' } = incoming
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest, origin: from, referer } = headers
  if (isUpgrade) return from === undefined || from === origin ? undefined : REFUSED
  const isRead = method === 'GET' || method === 'HEAD'
  if (site === 'same-origin' || site === 'none') return undefined
  if (site !== undefined) return isRead && mode === 'navigate' && dest === 'document' ? undefined : REFUSED
  // Programs, and browsers that send no metadata.
  if (from !== undefined) return from === origin ? undefined : REFUSED
  return isRead || referer === undefined || originOf(referer) === origin ? undefined : REFUSED
}

const REFUSED = 'A page of another site asked for it. Open the app by its own address.'

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}

function countOf(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length
}
