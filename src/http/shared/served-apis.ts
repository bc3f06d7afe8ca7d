import { OIDC_BASE } from '../../domain/oidc/issuers.ts'
import { CLIENT_BASE, FABRIC_BASE, HEALTH_CHECKS_BASE, MANAGEMENT_BASE, PORTCULLIS_BASE } from '../operations/paths.ts'

/** What clients are sent to: the client API, and the OpenID provider where it is on. */
export function clientApis(hasOpenId: boolean): Readonly<Record<string, string>> {
  return { 'edge-client': CLIENT_BASE, ...(hasOpenId && { 'edge-oidc': OIDC_BASE }) }
}

/** Everything that a controller serves, by the names that deployed clients know: the paths below which it is. */
export function servedApis(hasOpenId: boolean): Readonly<Record<string, string>> {
  return {
    ...clientApis(hasOpenId),
    'edge-management': MANAGEMENT_BASE,
    fabric: FABRIC_BASE,
    'health-checks': HEALTH_CHECKS_BASE,
    portcullis: PORTCULLIS_BASE,
  }
}
