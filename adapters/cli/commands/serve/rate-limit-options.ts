import type { RateLimitOptions } from '../../../../src/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** What is limited, by the name that it has on the command line. */
const LIMITED = {
  anonymous: 'anonymous',
  identity: 'identity',
  'passwords-by-address': 'passwordsByAddress',
  'passwords-by-username': 'passwordsByUsername',
} as const satisfies Record<string, keyof RateLimitOptions>

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * The rate limits in a setting: `off`, or a list such as `anonymous=1000/60,identity=off`, each a number of requests in a
 * number of seconds; what is not listed keeps its default. Throws {@link UsageError}.
 */
export function readRateLimits(setting: Setting | undefined): RateLimitOptions | false {
  if (setting === undefined) return {}
  if (setting.value === 'off') return false
  const limits: Writable<RateLimitOptions> = {}
  for (const part of setting.value.split(',')) {
    const [, name = '', rate = ''] = /^\s*([a-z-]+)=(off|[1-9]\d{0,8}\/[1-9]\d{0,5})\s*$/.exec(part) ?? []
    if (!isLimited(name)) {
      const names = Object.keys(LIMITED).join(', ')
      throw new UsageError(
        `${setting.name} takes off, or NAME=COUNT/SECONDS or NAME=off with commas between them, ` +
          `NAME being one of ${names}: not '${part}'`,
      )
    }
    const [limit, seconds] = rate.split('/').map(Number)
    limits[LIMITED[name]] = limit === undefined || seconds === undefined ? false : { limit, windowMs: seconds * 1000 }
  }
  return limits
}

function isLimited(name: string): name is keyof typeof LIMITED {
  return Object.hasOwn(LIMITED, name)
}
