import type { ControllerOptions, OpenIdOptions } from '../../../../src/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

const SECOND_MS = 1000
const DAY_MS = 24 * 60 * 60 * SECOND_MS
/** Milliseconds of what a duration may be given in. */
const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: 60 * SECOND_MS, h: 60 * 60 * SECOND_MS, d: DAY_MS }
/** Ten years, in days: beyond it a slip of the pen is more likely than a wish. */
const MOST_DAYS = 3650

/** How long things last that the controller makes, where it is not the default. */
export type Durations = Pick<
  ControllerOptions,
  'apiSessionTimeoutMs' | 'enrollmentDurationMs' | 'routerEnrollmentDurationMs'
>

/** How long tokens are good, where it is not the default. */
export type TokenLifetimes = Pick<
  OpenIdOptions,
  'accessTokenLifetimeMs' | 'idTokenLifetimeMs' | 'refreshTokenLifetimeMs'
>

/** The lifetimes of tokens, by the names that they have on the command line. */
const TOKENS = {
  access: 'accessTokenLifetimeMs',
  id: 'idTokenLifetimeMs',
  refresh: 'refreshTokenLifetimeMs',
} as const satisfies Record<string, keyof TokenLifetimes>

/** The durations in settings, such as `90s`, `30m`, `3h` or `7d`. Throws {@link UsageError}. */
export function readDurations(settings: {
  readonly sessionTimeout: Setting | undefined
  readonly enrollment: Setting | undefined
  readonly routerEnrollment: Setting | undefined
}): Durations {
  const { sessionTimeout, enrollment, routerEnrollment } = settings
  return {
    ...(sessionTimeout && { apiSessionTimeoutMs: readDuration(sessionTimeout) }),
    ...(enrollment && { enrollmentDurationMs: readDuration(enrollment) }),
    ...(routerEnrollment && { routerEnrollmentDurationMs: readDuration(routerEnrollment) }),
  }
}

/**
 * The lifetimes in a setting, a list such as `access=15m,refresh=7d`; what is not listed keeps its default. Throws
 * {@link UsageError}, also where a refresh token would not outlive an access token by a minute.
 */
export function readTokenLifetimes(setting: Setting | undefined): TokenLifetimes {
  if (setting === undefined) return {}
  const lifetimes: { -readonly [Name in keyof TokenLifetimes]: number } = {}
  for (const part of setting.value.split(',')) {
    const [, name = '', value = ''] = /^\s*([a-z]+)=(\S+)\s*$/.exec(part) ?? []
    if (!isToken(name)) {
      const names = Object.keys(TOKENS).join(', ')
      throw new UsageError(
        `${setting.name} takes NAME=DURATION with commas between them, NAME being one of ${names}: not '${part}'`,
      )
    }
    lifetimes[TOKENS[name]] = readDuration({ name: setting.name, value })
  }
  const { accessTokenLifetimeMs = 30 * 60 * SECOND_MS, refreshTokenLifetimeMs = DAY_MS } = lifetimes
  if (refreshTokenLifetimeMs >= accessTokenLifetimeMs + 60 * SECOND_MS) return lifetimes
  throw new UsageError(`${setting.name}: a refresh token has to be good for a minute longer than an access token`)
}

function readDuration({ name, value }: Setting): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(value) ?? []
  const durationMs = Number(count) * (UNITS[unit] ?? 0)
  if (durationMs >= 60 * SECOND_MS && durationMs <= MOST_DAYS * DAY_MS) return durationMs
  throw new UsageError(`${name} takes a duration from 1m to ${MOST_DAYS}d, such as 90s, 30m, 3h or 7d: not '${value}'`)
}

function isToken(name: string): name is keyof typeof TOKENS {
  return Object.hasOwn(TOKENS, name)
}
