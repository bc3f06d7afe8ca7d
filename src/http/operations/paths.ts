import { OIDC_BASE } from '../../oidc/discovery.rules.ts'

export const CLIENT_BASE = '/edge/client/v1'
export const MANAGEMENT_BASE = '/edge/management/v1'
export const FABRIC_BASE = '/fabric/v1'
export const PORTCULLIS_BASE = '/portcullis/v1'
/** Where the paths of each API begin. */
export const BASES = {
  client: CLIENT_BASE,
  management: MANAGEMENT_BASE,
  fabric: FABRIC_BASE,
  portcullis: PORTCULLIS_BASE,
  openid: OIDC_BASE,
} as const
/** The path at which monitors ask, below any version or none. */
const HEALTH_CHECKS = '/health-checks'
export const HEALTH_CHECKS_BASE = `${HEALTH_CHECKS}/v1`

export interface ApiPath {
  readonly api: 'client' | 'management' | 'fabric' | 'portcullis'
  /** The path below the API's base, beginning with a slash. */
  readonly path: string
}

/**
 * Tells which API a path belongs to. The client API is the default: un-versioned paths and the legacy prefix `/edge/v1`
 * are its aliases, so that clients may call `/version` or `/enroll` before they know any prefix.
 */
export function apiPathOf(pathname: string): ApiPath {
  const path = cleaned(pathname)
  const below = (base: string) => (path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : undefined)
  const management = below(MANAGEMENT_BASE)
  if (management !== undefined) return { api: 'management', path: management || '/' }
  const fabric = below(FABRIC_BASE)
  if (fabric !== undefined) return { api: 'fabric', path: fabric || '/' }
  const portcullis = below(PORTCULLIS_BASE)
  if (portcullis !== undefined) return { api: 'portcullis', path: portcullis || '/' }
  const health = below(HEALTH_CHECKS)
  if (health !== undefined) return { api: 'client', path: `${HEALTH_CHECKS}${raftPathIn(health)}` }
  const client = below(CLIENT_BASE) ?? below('/edge/v1') ?? path
  return { api: 'client', path: client || '/' }
}

/** Deployed controllers answer every path of health checks alike, but for those that end so. */
function raftPathIn(path: string): string {
  const RAFT = '/controller/raft'
  return path.endsWith(RAFT) ? RAFT : ''
}

/** The path below the base of the OpenID provider; `undefined` for what is none of its own. Every path with its prefix is. */
export function openIdPathOf(pathname: string): string | undefined {
  const path = cleaned(pathname)
  if (path === OIDC_BASE || path.startsWith(`${OIDC_BASE}/`)) return path.slice(OIDC_BASE.length)
  return path.startsWith(OIDC_BASE) ? path : undefined
}

const HAS_EMPTY_SEGMENT = /\/\/|.\/$/

/** Empty segments do not count. */
function cleaned(pathname: string): string {
  if (!HAS_EMPTY_SEGMENT.test(pathname)) return pathname
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return `/${segments.join('/')}`
}

/** The facts that a controller tells about itself. */
export interface VersionFacts {
  /** With a leading `v`: what clients read as the controller's version. */
  readonly version: string
  readonly revision: string
  /** RFC 3339. */
  readonly buildDate: string
  readonly runtimeVersion: string
}

/** The OpenAPI 3.0 documents of every API, as plain JSON. */
export interface ApiDocuments {
  readonly management: Readonly<Record<string, unknown>>
  readonly client: Readonly<Record<string, unknown>>
  readonly fabric: Readonly<Record<string, unknown>>
  readonly portcullis: Readonly<Record<string, unknown>>
}
