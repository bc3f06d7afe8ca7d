import { openIdApi } from '../apis/oidc/index.ts'
import { requireInRange } from '../base/arguments.ts'
import { DAY_MS, MINUTE_MS } from '../base/time.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import { redirectUriProblem } from '../facts/oidc/auth-request.rules.ts'
import { issuerProblem, issuersOf } from '../facts/oidc/discovery.rules.ts'
import type { OpenIdApi } from '../http/pipeline/handler.ts'
import { OpenIdProvider } from '../oidc/openid-provider.ts'
import type { ProviderSettings } from '../oidc/token-issue.ts'
import { createHttpTokenEndpoints } from '../platform/key-sets/http-key-sets.ts'
import type { OpenIdOptions } from './controller-options.ts'

const YEAR_MS = 365 * DAY_MS

/** The other options of the controller that decide which addresses are reachable. */
export interface ProviderNetwork {
  /** Origins whose pages may call the APIs. */
  readonly origins: readonly string[]
  /** External signers may be in private networks, or on this machine. */
  readonly allowInternal: boolean
}

/** Opens the OpenID provider of a controller. Throws an `Error` that names the option when one cannot be used. */
export async function openProvider(
  engine: ControllerEngine,
  options: OpenIdOptions,
  network: ProviderNetwork,
): Promise<OpenIdApi> {
  const settings = await settingsOf(engine, options, network)
  const provider = new OpenIdProvider(engine, settings, createHttpTokenEndpoints(network.allowInternal))
  await provider.requests.resume()
  return openIdApi(provider)
}

async function settingsOf(
  engine: ControllerEngine,
  options: OpenIdOptions,
  { origins }: ProviderNetwork,
): Promise<ProviderSettings> {
  const { settings } = contextOf(engine)
  const { accessTokenLifetimeMs } = settings
  const refreshTokenLifetimeMs = options.refreshTokenLifetimeMs ?? DAY_MS
  const idTokenLifetimeMs = options.idTokenLifetimeMs ?? 30 * MINUTE_MS
  requireInRange('oidc.idTokenLifetimeMs', idTokenLifetimeMs, MINUTE_MS, YEAR_MS)
  requireInRange('oidc.refreshTokenLifetimeMs', refreshTokenLifetimeMs, accessTokenLifetimeMs + MINUTE_MS, YEAR_MS)
  const { redirectUris, postLogoutUris } = settings.openIdUris
  requireEach('oidc.redirectUris', redirectUris, redirectUriProblem)
  requireEach('oidc.postLogoutUris', postLogoutUris, redirectUriProblem)
  const { hosts } = await contextOf(engine).pki.serverCertificate()
  const issuersNow = () => options.issuers ?? ownIssuers(settings.address, hosts, options.ports ?? [])
  if (issuersNow().length === 0) throw new Error('oidc.issuers must name at least one issuer')
  requireEach('oidc.issuers', issuersNow(), issuerProblem)
  let known = { address: settings.address, issuers: issuersNow() }
  return {
    get issuers() {
      const { address } = settings
      if (known.address !== address) known = { address, issuers: issuersNow() }
      return known.issuers
    },
    origins,
    idTokenLifetimeMs,
    refreshTokenLifetimeMs,
  }
}

/** The advertised address and the other names of the server certificate, at its port and the others. */
function ownIssuers(address: string, hosts: readonly string[], ports: readonly number[]): readonly string[] {
  const { hostname, port } = new URL(`https://${address}`)
  const names = [hostname, ...hosts.filter((host) => !host.includes('*'))]
  const issuers = [port === '' ? 443 : Number(port), ...ports].flatMap((one) => issuersOf(names, one))
  return [...new Set(issuers)]
}

function requireEach(
  option: string,
  values: readonly string[],
  problemOf: (value: string) => string | undefined,
): void {
  for (const value of values) {
    const problem = problemOf(value)
    if (problem !== undefined) throw new Error(`${option}: "${value}" ${problem}`)
  }
}
