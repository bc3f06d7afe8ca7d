import type { GivenOptions } from '../../command-line/options.ts'
import {
  ADMIN_PASSWORD,
  ADMIN_USERNAME,
  type AdminCredentials,
  adminCredentials,
} from '../../input/admin-credentials.ts'
import type { Environment } from '../../settings/setting.ts'
import { UsageError } from '../../settings/usage-error.ts'

/** What `portcullis explain` was asked. */
export interface ExplainOptions {
  /** The controller's address, without a path. */
  readonly url: string
  /** PEM file of the trust bundle that the controller's certificate leads to; undefined for the system's own. */
  readonly caFile: string | undefined
  /** Each an id or a name. */
  readonly identity: string
  readonly service: string
  readonly type: 'Dial' | 'Bind'
  readonly admin: AdminCredentials
}

/** Reads what was asked, in words or in options; the credentials come from the environment. Throws {@link UsageError}. */
export function readExplainOptions(
  { typed, value }: GivenOptions<'url' | 'ca' | 'identity' | 'service' | 'type'>,
  operands: readonly string[],
  environment: Environment,
): ExplainOptions {
  if (operands.length !== 0 && operands.length !== 3) {
    throw new UsageError('explain takes IDENTITY dial|bind SERVICE, such as: portcullis explain laptop dial payroll')
  }
  const [identity, type, service] = operands
  const needed = (option: 'identity' | 'service', word: string | undefined): string => {
    const named = word ?? typed(option)
    if (named === undefined) throw new UsageError(`explain needs --${option}`)
    return named
  }
  const admin = adminCredentials(environment)
  if (admin === undefined)
    throw new UsageError(`explain needs ${ADMIN_USERNAME} and ${ADMIN_PASSWORD} in the environment`)
  return {
    url: readUrl(value('url')),
    caFile: typed('ca'),
    identity: needed('identity', identity),
    service: needed('service', service),
    type: readType(type ?? typed('type') ?? 'dial'),
    admin,
  }
}

function readUrl(value: string | undefined): string {
  if (value === undefined) throw new UsageError('explain needs --url, such as https://127.0.0.1:1280')
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'https:' && url.pathname === '/') return url.origin
  throw new UsageError(`--url takes https://HOST:PORT, not '${value}'`)
}

function readType(value: string): 'Dial' | 'Bind' {
  if (/^dial$/i.test(value)) return 'Dial'
  if (/^bind$/i.test(value)) return 'Bind'
  throw new UsageError(`--type takes dial or bind, not '${value}'`)
}
