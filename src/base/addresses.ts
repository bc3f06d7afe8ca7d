/**
 * The network that an address is counted under: an IPv4 address itself, of IPv6 the first 64 bits, all of which one host
 * may own. An IPv4 address in IPv6 form is the IPv4 address.
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
