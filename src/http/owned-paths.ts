import type { Operation } from './operations/operation.ts'
import { apiPathOf, BASES, Router } from './pipeline/router.ts'
import { PROBE_PATHS } from './probes.ts'

/**
 * Makes the function that reports which paths are a controller's, by the rows and the bases that requests are routed by.
 * A relative `url` begins with a slash, as those of `node:http` do.
 */
export function ownedPaths(
  client: readonly Operation[],
  { probes, oidc }: { readonly probes: boolean; readonly oidc: boolean },
): (request: { readonly url?: string | undefined }) => boolean {
  const { openid, ...always } = BASES
  const bases = oidc ? [...Object.values(always), openid] : Object.values(always)
  const first = new Set(bases.map(firstSegment))
  const atRoot = new Router(client.filter(({ shape }) => shape.access === 'public' && !shape.route.endsWith(' /')))
  const probed: ReadonlySet<string> = new Set(probes ? Object.values(PROBE_PATHS) : [])
  return ({ url = '' }) => {
    const absolute = url.startsWith('/') ? `http://localhost${url}` : url
    if (!URL.canParse(absolute)) return false
    const { pathname } = new URL(absolute)
    return first.has(firstSegment(pathname)) || probed.has(pathname) || atRoot.has(apiPathOf(pathname).path)
  }
}

function firstSegment(path: string): string {
  return path.split('/').find((segment) => segment !== '') ?? ''
}
