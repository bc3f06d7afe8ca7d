import { z } from 'zod'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation, type OperationInput } from '../operations/define-operation.ts'
import { CLIENT_BASE } from '../operations/paths.ts'
import { servedApis } from './served-apis.ts'

const ApiVersion = described(z.object({ apiBaseUrls: z.array(z.string()), path: z.string(), version: z.string() }), {
  apiBaseUrls: 'The URLs under which the API is served.',
  path: 'The path below which its operations are.',
  version: 'The version of the API, as in its path.',
})

const VersionInfo = described(
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
    capabilities: 'What the controller can do beyond the APIs, in the words of `/enumerated-capabilities`.',
    revision: 'The revision of the source; empty when unknown.',
    runtimeVersion: 'What the software runs on, with its version.',
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
  const { address, hasOpenId } = engine.network
  // Older clients know the client API as `edge`.
  const served = Object.entries({ edge: CLIENT_BASE, ...servedApis(hasOpenId) })
  const api = (path: string) => ({ v1: { apiBaseUrls: [`https://${address}${path}`], path, version: 'v1' } })
  return {
    apiVersions: Object.fromEntries(served.map(([name, path]) => [name, api(path)])),
    ...versionFacts,
    capabilities: hasOpenId ? ['OIDC_AUTH', 'OIDC_AUTH_WITH_CSR'] : [],
  }
}
