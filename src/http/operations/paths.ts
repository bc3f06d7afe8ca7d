export const CLIENT_BASE = '/edge/client/v1'
export const MANAGEMENT_BASE = '/edge/management/v1'
export const PORTCULLIS_BASE = '/portcullis/v1'

export interface ApiPath {
  readonly api: 'client' | 'management' | 'portcullis'
  /** The path below the API's base, beginning with a slash. */
  readonly path: string
}

/**
 * Tells which API a path belongs to. The client API is the default: un-versioned paths and the legacy prefix `/edge/v1`
 * are its aliases, so that clients may call `/version` or `/enroll` before they know any prefix.
 */
export function apiPathOf(pathname: string): ApiPath {
  const path = `/${pathname
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}`
  const below = (base: string) => (path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : undefined)
  const management = below(MANAGEMENT_BASE)
  if (management !== undefined) return { api: 'management', path: management || '/' }
  const portcullis = below(PORTCULLIS_BASE)
  if (portcullis !== undefined) return { api: 'portcullis', path: portcullis || '/' }
  const client = below(CLIENT_BASE) ?? below('/edge/v1') ?? path
  return { api: 'client', path: client || '/' }
}
