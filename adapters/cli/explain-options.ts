import { parseArgs } from 'node:util'
import { ADMIN_PASSWORD, ADMIN_USERNAME, type AdminCredentials, adminCredentials } from './admin.ts'
import type { Environment } from './setting.ts'
import { UsageError } from './usage-error.ts'

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

const text = { type: 'string' } as const
const declared = { url: text, ca: text, identity: text, service: text, type: text } as const

/** Reads what follows `portcullis explain`; the credentials come from the environment. Throws {@link UsageError}. */
export function readExplainOptions(args: readonly string[], environment: Environment): ExplainOptions {
  const values = parse(args)
  const needed = (option: keyof typeof declared): string => {
    const value = values[option]
    if (value === undefined || value === '') throw new UsageError(`explain needs --${option}`)
    return value
  }
  const admin = adminCredentials(environment)
  if (admin === undefined)
    throw new UsageError(`explain needs ${ADMIN_USERNAME} and ${ADMIN_PASSWORD} in the environment`)
  return {
    url: readUrl(values.url ?? environment.PORTCULLIS_URL ?? ''),
    caFile: values.ca,
    identity: needed('identity'),
    service: needed('service'),
    type: readType(values.type ?? 'dial'),
    admin,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: declared, strict: true }).values
  } catch (error) {
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/)
    throw new UsageError(`${sentence.replace(/\.$/, '')}; portcullis --help lists the options`, { cause: error })
  }
}

function readUrl(value: string): string {
  if (value === '') throw new UsageError('explain needs --url, such as https://127.0.0.1:1280')
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'https:' && url.pathname === '/') return url.origin
  throw new UsageError(`--url takes https://HOST:PORT, not '${value}'`)
}

function readType(value: string): 'Dial' | 'Bind' {
  if (/^dial$/i.test(value)) return 'Dial'
  if (/^bind$/i.test(value)) return 'Bind'
  throw new UsageError(`--type takes dial or bind, not '${value}'`)
}
