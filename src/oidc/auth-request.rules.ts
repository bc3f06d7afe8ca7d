/** Where clients may be sent after a login, unless the configuration says otherwise. */
export const DEFAULT_REDIRECT_URIS: readonly string[] = [
  'openziti://auth/callback',
  'https://127.0.0.1:*/auth/callback',
  'http://127.0.0.1:*/auth/callback',
  'https://localhost:*/auth/callback',
  'http://localhost:*/auth/callback',
]

/** Where clients may be sent after a logout, unless the configuration says otherwise. */
export const DEFAULT_POST_LOGOUT_URIS: readonly string[] = [
  'openziti://auth/logout',
  'https://127.0.0.1:*/auth/logout',
  'http://127.0.0.1:*/auth/logout',
  'https://localhost:*/auth/logout',
  'http://localhost:*/auth/logout',
]

/** An address of the own machine whose port a client chooses when it starts: `*` stands for it, and for nothing else. */
const LOOPBACK = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):)\*((?:\/[^?#*]*)?)$/
const PORT = /^[1-9][0-9]{0,4}$/
/** Schemes that a browser would run or show instead of leaving the page. */
const UNSAFE_SCHEMES = ['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'view-source:']

/**
 * Reports whether a redirect URI is one of the list: the very same text or, for an entry with `*` as port of the own
 * machine, the same text with any port.
 */
export function isListedUri(uri: string, list: readonly string[]): boolean {
  // An entry with the port left open is no address itself.
  return list.some((entry) => (LOOPBACK.test(entry) ? isSameButPort(uri, entry) : entry === uri))
}

/** Why an entry cannot stand in a list of redirect URIs; `undefined` for one that can. */
export function redirectUriProblem(entry: string): string | undefined {
  if (entry.length > 2048) return 'must be at most 2048 chars long'
  if (LOOPBACK.test(entry)) return undefined
  if (entry.includes('*')) return 'may have * as the port of localhost, 127.0.0.1 or [::1] only'
  if (!URL.canParse(entry)) return 'must be an absolute URI'
  const { protocol, hash, username, password } = new URL(entry)
  if (UNSAFE_SCHEMES.includes(protocol)) return `must not have the scheme ${protocol}`
  if (hash !== '' || entry.includes('#')) return 'must not have a fragment'
  return username === '' && password === '' ? undefined : 'must not have credentials'
}

/** A redirect URI with parameters appended in form style, in their order; parameters without value are left out. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | null>>): string {
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => Boolean(entry[1]))
  if (sent.length === 0) return uri
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(sent)}`
}

function isSameButPort(uri: string, entry: string): boolean {
  const [, before, after] = LOOPBACK.exec(entry) ?? []
  if (before === undefined || after === undefined) return false
  if (!uri.startsWith(before) || !uri.endsWith(after)) return false
  const port = uri.slice(before.length, uri.length - after.length)
  return PORT.test(port) && Number(port) <= 65_535
}
