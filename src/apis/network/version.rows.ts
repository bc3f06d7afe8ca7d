import { z } from 'zod'
import { OIDC_BASE } from '../../facts/oidc/discovery.rules.ts'
import { ROUTER_CAPABILITY_NAMES } from '../../facts/routers/capabilities.rules.ts'
import { defineOperation, type OperationInput } from '../../http/operations/define-operation.ts'
import {
  CLIENT_BASE,
  FABRIC_BASE,
  HEALTH_CHECKS_BASE,
  MANAGEMENT_BASE,
  PORTCULLIS_BASE,
} from '../../http/pipeline/router.ts'
import { described } from '../../kernel/declaration/words.ts'

const ApiVersion = described(z.object({ apiBaseUrls: z.array(z.string()), path: z.string(), version: z.string() }), {
  apiBaseUrls: 'The URLs under which the API is served.',
  path: 'The path below which its operations are.',
  version: 'The version of the API, as in its path.',
})

/** The software of a controller, and the APIs that it serves. */
export const VersionInfo = described(
  z.object({
    apiVersions: z.record(z.string(), z.record(z.string(), ApiVersion)),
    buildDate: z.iso.datetime(),
    capabilities: z.array(z.string()),
    revision: z.string(),
    runtimeVersion: z.string(),
    version: z.string(),
  }),
  {
    apiVersions: 'The APIs that are served, by name and version.',
    buildDate: 'When the software was built, RFC 3339.',
    capabilities: 'The abilities of the controller beyond the APIs, in the words of `/enumerated-capabilities`.',
    revision: 'The revision of the source; empty when unknown.',
    runtimeVersion: 'The runtime of the software, with its version.',
    version: 'The version of the software, with a leading `v`.',
  },
)

const SHAPE = { access: 'public', data: VersionInfo } as const

/** Version information at the root of an API and at `/version`, alike in both APIs. */
export const versionOperations = [
  defineOperation(
    { route: 'GET /', summary: 'Shows version information', description: 'The same as `/version`.', ...SHAPE },
    async (input) => ({ data: versionInfo(input) }),
  ),
  defineOperation(
    {
      route: 'GET /version',
      summary: 'Shows version information',
      description: 'SDKs read it first: it names the addresses of the APIs and what the controller can do.',
      ...SHAPE,
    },
    async (input) => ({ data: versionInfo(input) }),
  ),
] as const

function versionInfo({ engine, versionFacts }: Pick<OperationInput, 'engine' | 'versionFacts'>) {
  const { address, directE2EE, hasOpenId } = engine.network
  // Older clients know the client API as `edge`.
  const served = Object.entries({ edge: CLIENT_BASE, ...servedApis(hasOpenId) })
  const api = (path: string) => ({ v1: { apiBaseUrls: [`https://${address}${path}`], path, version: 'v1' } })
  return {
    apiVersions: Object.fromEntries(served.map(([name, path]) => [name, api(path)])),
    ...versionFacts,
    capabilities: [...(hasOpenId ? ['OIDC_AUTH', 'OIDC_AUTH_WITH_CSR'] : []), ...(directE2EE?.capabilities ?? [])],
  }
}

const CAPABILITIES = ['OIDC_AUTH', 'HA_CONTROLLER', 'OIDC_AUTH_WITH_CSR']

/** The names of the capabilities of controllers and routers; those of this controller are part of its version. */
export const capabilityOperations = [
  defineOperation(
    {
      route: 'GET /enumerated-capabilities',
      summary: 'Lists the capabilities that a controller may have',
      description: 'The abilities of this controller are part of `/version`.',
      access: 'public',
      data: z.array(z.string()),
    },
    async () => ({ data: CAPABILITIES }),
  ),
  defineOperation(
    {
      route: 'GET /enumerated-router-capabilities',
      summary: 'Lists the capabilities that a router may have',
      access: 'partial',
      data: z.array(z.string()),
    },
    async () => ({ data: [...ROUTER_CAPABILITY_NAMES] }),
  ),
] as const

/** Lists the APIs that clients are sent to: the client API, and the OpenID provider where it is on. */
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

export const protocols = defineOperation(
  {
    route: 'GET /protocols',
    summary: 'Lists the protocols and addresses under which clients reach the controller',
    access: 'public',
    data: z.record(z.string(), described(z.object({ address: z.string() }), { address: 'Host and port.' })),
  },
  async ({ engine }) => ({ data: { https: { address: engine.network.address } } }),
)
