/** Below this path of its host is everything that the provider answers. */
export const OIDC_BASE = '/oidc'

/** The issuer at a host, `host:port` with the port left out where it is 443: `https://ctrl.example:1280/oidc`. */
function issuerAt(host: string): string {
  return `https://${host}${OIDC_BASE}`
}

/**
 * The issuer that a request's host chooses among those of the configuration, compared without case and with the standard
 * port written or not; `undefined` for any other host.
 */
export function chooseIssuer(host: string, issuers: readonly string[]): string | undefined {
  const wanted = normalHost(host)
  return wanted === undefined ? undefined : issuers.find((issuer) => issuer === issuerAt(wanted))
}

/** Why a text cannot be an issuer; `undefined` for one that can. */
export function issuerProblem(issuer: string): string | undefined {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (url !== undefined && issuer === issuerAt(url.host)) return undefined
  return `is no issuer such as ${issuerAt('ctrl.example:1280')}, in lower case and without port 443`
}

/** The issuers of hosts, each name or address without port; each once. IPv6 addresses may come without brackets. */
export function issuersOf(hosts: readonly string[], port: number): readonly string[] {
  const all = hosts.flatMap((host) => normalHost(`${host.includes(':') ? bracketed(host) : host}:${port}`) ?? [])
  return [...new Set(all)].map(issuerAt)
}

function normalHost(host: string): string | undefined {
  const url = `https://${host}`
  return /[/?#@\\\s]/.test(host) || !URL.canParse(url) ? undefined : new URL(url).host
}

function bracketed(host: string): string {
  return host.startsWith('[') ? host : `[${host}]`
}
