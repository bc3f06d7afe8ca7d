import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { CLIENT_BASE, MANAGEMENT_BASE } from '../paths.ts'

/** What a controller tells about itself. */
export interface VersionFacts {
  /** With a leading `v`: what clients read as the controller's version. */
  readonly version: string
  readonly revision: string
  readonly buildDate: string
  readonly runtimeVersion: string
}

const ApiVersion = z.object({ apiBaseUrls: z.array(z.string()), path: z.string() })

const VersionInfo = z.object({
  apiVersions: z.record(z.string(), z.record(z.string(), ApiVersion)),
  buildDate: z.string(),
  capabilities: z.array(z.string()),
  revision: z.string(),
  runtimeVersion: z.string(),
  version: z.string(),
})

/** Version information at the root of an API and at `/version`, alike in both APIs. */
export function versionOperations(facts: VersionFacts) {
  const shape = { access: 'public', data: VersionInfo } as const
  return [
    defineOperation({ route: 'GET /', summary: 'Shows version information', ...shape }, async ({ engine }) => ({
      data: versionInfo(facts, engine.context.settings.address),
    })),
    defineOperation({ route: 'GET /version', summary: 'Shows version information', ...shape }, async ({ engine }) => ({
      data: versionInfo(facts, engine.context.settings.address),
    })),
  ] as const
}

function versionInfo(facts: VersionFacts, address: string) {
  const api = (path: string) => ({ v1: { apiBaseUrls: [`https://${address}${path}`], path } })
  return {
    apiVersions: {
      edge: api(CLIENT_BASE),
      'edge-client': api(CLIENT_BASE),
      'edge-management': api(MANAGEMENT_BASE),
    },
    ...facts,
    capabilities: [],
  }
}
