import type { CorsOptions } from '../../../../src/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** The origins in settings, exactly as browsers send them. Throws {@link UsageError} for what is none, such as `*`. */
export function readCors(settings: readonly Setting[]): CorsOptions {
  for (const { name, value } of settings) {
    const isOrigin = /^https?:\/\/[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value
    if (isOrigin) continue
    throw new UsageError(`${name} takes an origin such as https://console.example, without a path: not '${value}'`)
  }
  return { origins: settings.map(({ value }) => value) }
}
