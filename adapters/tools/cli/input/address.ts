import { isIPv6 } from 'node:net'
import { type Address, parseAddress } from '../../../web/node/index.ts'
import { type Setting, UsageError } from '../command-line/usage.ts'

const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/

/**
 * The address in a setting: `controller.example.org:1280`, `127.0.0.1:1280` or `[::1]:1280`, the host in canonical form.
 * Throws {@link UsageError}, also for a port below `lowestPort`.
 */
export function readAddress({ name, value }: Setting, lowestPort: 0 | 1): Address {
  const parsed = parseAddress(value)
  const host = parsed && canonicalHost(parsed.host)
  if (host !== undefined && parsed !== undefined && parsed.port >= lowestPort) return { host, port: parsed.port }
  const examples = 'such as 127.0.0.1:1280 or [::1]:1280'
  throw new UsageError(`${name} takes HOST:PORT with a port from ${lowestPort} to 65535, ${examples}: not '${value}'`)
}

/** The spellings of an address have one form in a URL, so that `[0:0::0]` is recognised as every interface. */
function canonicalHost(written: string): string | undefined {
  const url = `https://${written.includes(':') ? `[${written}]` : written}/`
  // With these characters the text before the port would not be a host.
  if (/[?#@%\\]/.test(written) || !URL.canParse(url)) return undefined
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return isIPv6(host) || HOST_NAME.test(host) ? host : undefined
}

const KEEP_NOTHING = 'or choose --storage memory, which keeps nothing beyond the process'

/** Explains an error of an import: a package that was not installed, or a Node without SQLite; else undefined. */
export function missingPart(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.cause !== undefined) return missingPart(error.cause)
  const code: unknown = Reflect.get(error, 'code')
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') {
    return `it needs Node 22.13 or later, this is ${process.version}: run a later one, ${KEEP_NOTHING}`
  }
  const [, name] = (code === 'ERR_MODULE_NOT_FOUND' && /^Cannot find package '([^']+)'/.exec(error.message)) || []
  return name && `it needs the package ${name}: run \`npm install ${name}\`, ${KEEP_NOTHING}`
}
