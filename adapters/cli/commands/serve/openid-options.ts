import type { OpenIdOptions } from '../../../../src/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** `off`, or the issuers with commas between; by default they follow from the addresses. Throws {@link UsageError}. */
export function readOpenId(setting: Setting | undefined): OpenIdOptions | false {
  if (setting === undefined) return {}
  if (setting.value === 'off') return false
  const issuers = setting.value.split(',').map((issuer) => issuer.trim())
  const wrong = issuers.find((issuer) => !/^https:\/\/[^/]+\/oidc$/.test(issuer) || !URL.canParse(issuer))
  if (wrong === undefined) return { issuers }
  throw new UsageError(`${setting.name} takes off, or issuers such as https://ctrl.example:1280/oidc: not '${wrong}'`)
}
