import { isIPv6 } from 'node:net'
import { type Address, parseAddress } from '../../node/index.ts'
import type { Setting } from '../settings/setting.ts'
import { UsageError } from '../settings/usage-error.ts'

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
  // These characters would make something else of the host than a host.
  if (/[?#@%\\]/.test(written) || !URL.canParse(url)) return undefined
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return isIPv6(host) || HOST_NAME.test(host) ? host : undefined
}
