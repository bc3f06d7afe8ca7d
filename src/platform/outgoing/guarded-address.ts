import { BlockList, isIP } from 'node:net'

/** Never fetched from: link-local addresses, behind which clouds keep the credentials of the machine, and no address at all. */
const FORBIDDEN = new BlockList()
FORBIDDEN.addSubnet('169.254.0.0', 16)
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6')
FORBIDDEN.addAddress('fd00:ec2::254', 'ipv6')
FORBIDDEN.addSubnet('224.0.0.0', 24)
FORBIDDEN.addSubnet('ff02::', 16, 'ipv6')
FORBIDDEN.addAddress('0.0.0.0')
FORBIDDEN.addAddress('::', 'ipv6')

/** Fetched from where the host allows it: addresses that lead into the host's own networks, or nowhere. */
const INTERNAL = new BlockList()
const INTERNAL_SUBNETS = ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.0.0.0/24']
for (const subnet of [...INTERNAL_SUBNETS, '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4']) {
  const [network = '', bits] = subnet.split('/')
  INTERNAL.addSubnet(network, Number(bits))
}
INTERNAL.addSubnet('::', 127, 'ipv6')
INTERNAL.addSubnet('fc00::', 7, 'ipv6')
INTERNAL.addSubnet('ff00::', 8, 'ipv6')
// Forms that carry an IPv4 address: NAT64 and 6to4.
INTERNAL.addSubnet('64:ff9b::', 96, 'ipv6')
INTERNAL.addSubnet('2002::', 16, 'ipv6')

/** Whether an IP address may be fetched from. IPv4 addresses inside of IPv6 are judged as what they are. */
export function isAllowedAddress(address: string, allowInternal: boolean): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(address) === 0 || FORBIDDEN.check(address, family)) return false
  return allowInternal || !INTERNAL.check(address, family)
}

/**
 * Reads a list of addresses and subnets, such as `10.0.0.0/8`, and answers what tells whether an address is among them. Throws
 * an `Error` that names the entry which is neither. Addresses that nobody may be sent to are never among them.
 */
export function addressesAmong(entries: readonly string[]): (address: string) => boolean {
  const listed = new BlockList()
  for (const entry of entries) {
    const [network = '', bits] = entry.split('/')
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
    const most = family === 'ipv6' ? 128 : 32
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (isIP(network) === 0 || length < 0 || length > most) throw new Error(`'${entry}' is no address and no subnet`)
    listed.addSubnet(network, length, family)
  }
  return (address) => isAllowedAddress(address, true) && listed.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
