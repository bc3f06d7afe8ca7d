import type { OpenIdOptions } from '../../../../src/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'
import { readTokenLifetimes } from './duration-options.ts'

/** Further settings of the provider. */
interface ProviderSettings {
  readonly redirectUris: readonly Setting[]
  readonly postLogoutUris: readonly Setting[]
  readonly lifetimes: Setting | undefined
}

/**
 * `off`, or the issuers with commas between, which follow from the addresses by default; where clients are sent, and how long
 * tokens are good. Throws {@link UsageError}, also for settings of a provider that is off.
 */
export function readOpenId(setting: Setting | undefined, besides: ProviderSettings): OpenIdOptions | false {
  const { redirectUris, postLogoutUris, lifetimes } = besides
  if (setting?.value === 'off') {
    const [idle] = [...redirectUris, ...postLogoutUris, ...(lifetimes === undefined ? [] : [lifetimes])]
    if (idle !== undefined) throw new UsageError(`${idle.name} has no meaning with ${setting.name} off`)
    return false
  }
  return {
    ...readIssuers(setting),
    ...(redirectUris.length > 0 && { redirectUris: redirectUris.map(readUri) }),
    ...(postLogoutUris.length > 0 && { postLogoutUris: postLogoutUris.map(readUri) }),
    ...readTokenLifetimes(lifetimes),
  }
}

function readIssuers(setting: Setting | undefined): Pick<OpenIdOptions, 'issuers'> {
  if (setting === undefined) return {}
  const issuers = setting.value.split(',').map((issuer) => issuer.trim())
  const wrong = issuers.find((issuer) => !/^https:\/\/[^/]+\/oidc$/.test(issuer) || !URL.canParse(issuer))
  if (wrong === undefined) return { issuers }
  throw new UsageError(`${setting.name} takes off, or issuers such as https://ctrl.example:1280/oidc: not '${wrong}'`)
}

/** Refuses a text that is no URI at once; the controller judges the rest. */
function readUri({ name, value }: Setting): string {
  const written = value.replace(/^(https?:\/\/[^/]*):\*(?=\/|$)/, '$1:1')
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value) && URL.canParse(written)) return value
  throw new UsageError(`${name} takes a URI such as https://console.example/auth/callback: not '${value}'`)
}
