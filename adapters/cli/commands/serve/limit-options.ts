import type { ServeOptions } from '../../../node/index.ts'
import type { Setting } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** What is limited, by the name that it has on the command line. */
const LIMITED = {
  connections: 'maxConnections',
  'connections-per-address': 'maxConnectionsPerAddress',
  'arriving-bytes': 'maxArrivingBytes',
  'unsent-bytes': 'maxUnsentBytes',
  'unsent-bytes-per-address': 'maxUnsentBytesPerAddress',
} as const satisfies Record<string, keyof ServeOptions>

/** What connections may cost, where it is not the default. */
export type ConnectionLimits = { -readonly [Name in (typeof LIMITED)[keyof typeof LIMITED]]?: number }

/**
 * The limits in a setting, a list such as `connections=20000,connections-per-address=20000`; what is not listed keeps its
 * default. Throws {@link UsageError}.
 */
export function readLimits(setting: Setting | undefined): ConnectionLimits {
  const limits: ConnectionLimits = {}
  for (const part of setting?.value.split(',') ?? []) {
    const [, name = '', count] = /^\s*([a-z-]+)=([1-9]\d{0,11})\s*$/.exec(part) ?? []
    if (!isLimited(name)) {
      const names = Object.keys(LIMITED).join(', ')
      throw new UsageError(
        `${setting?.name} takes NAME=COUNT with commas between them, NAME being one of ${names}: not '${part}'`,
      )
    }
    limits[LIMITED[name]] = Number(count)
  }
  return limits
}

function isLimited(name: string): name is keyof typeof LIMITED {
  return Object.hasOwn(LIMITED, name)
}
