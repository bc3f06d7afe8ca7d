/**
 * The network under which an address is counted: an IPv4 address itself, or the first 64 bits of an IPv6 address, since one host may own
 * them all. An IPv4 address in IPv6 form is the IPv4 address.
 *
 * @example
 * networkOf('::ffff:192.0.2.1') // '192.0.2.1'
 * networkOf('2001:db8::1') === networkOf('2001:db8::2') // true
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%')
  if (!bare.includes(':')) return bare
  const mapped = /:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = bare.split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(8 - before.length - after.length, 0) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

function groupsOf(part: string): readonly string[] {
  return part === '' ? [] : part.split(':').map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
}

const HOST_AND_PORT = /^(?:\[[0-9a-f:.]+\]|[^\s:[\]/?#@%\\]+):\d+$/i

/**
 * Answers a controller's address: a host and a port, with IPv6 addresses in brackets. Throws an `Error` for any other text, which would
 * otherwise end up in every enrollment token.
 */
export function requireAddress(address: string): string {
  if (HOST_AND_PORT.test(address) && URL.canParse(`https://${address}`)) return address
  throw new Error(`address takes host:port, such as controller.example.org:1280 or [::1]:1280: not '${address}'`)
}

/** The DNS name or IP address in a controller's address, without the brackets of IPv6. */
export function hostOf(address: string): string {
  return new URL(`https://${address}`).hostname.replace(/^\[|\]$/g, '')
}
