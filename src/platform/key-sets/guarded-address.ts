import { BlockList, isIP } from 'node:net'

/** Never fetched from: link-local addresses, behind which clouds keep the credentials of the machine. */
const forbidden = new BlockList()
forbidden.addSubnet('169.254.0.0', 16)
forbidden.addSubnet('fe80::', 10, 'ipv6')
forbidden.addAddress('fd00:ec2::254', 'ipv6')

/** Fetched from where the host allows it: addresses that lead into the host's own networks, or nowhere. */
const internal = new BlockList()
const internalSubnets = ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.0.0.0/24']
for (const subnet of [...internalSubnets, '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4']) {
  const [network = '', bits] = subnet.split('/')
  internal.addSubnet(network, Number(bits))
}
internal.addSubnet('::', 127, 'ipv6')
internal.addSubnet('fc00::', 7, 'ipv6')
internal.addSubnet('ff00::', 8, 'ipv6')
// Forms that carry an IPv4 address: NAT64 and 6to4.
internal.addSubnet('64:ff9b::', 96, 'ipv6')
internal.addSubnet('2002::', 16, 'ipv6')

/** Whether an IP address may be fetched from. IPv4 addresses inside of IPv6 are judged as what they are. */
export const isAllowedAddress = (address: string, allowInternal: boolean): boolean => {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(address) === 0 || forbidden.check(address, family)) return false
  return allowInternal || !internal.check(address, family)
}
