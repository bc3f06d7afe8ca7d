/** An address as a number of 32 or 128 bits. */
interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** The addresses that share the first bits of an address. */
interface Subnet {
  readonly network: Address
  readonly length: number
}

/**
 * Always forbidden: link-local and single addresses at which clouds serve the credentials of the machine, link-local multicast, and the
 * unspecified address.
 */
const FORBIDDEN = listOf([
  '0.0.0.0/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.192/32',
  '224.0.0.0/24',
  '::/128',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  'fe80::/10',
  'ff02::/16',
])

/**
 * Allowed only by the host: addresses inside the host's own networks, or without a destination. They are the special-purpose addresses of
 * IANA's registries that are not globally reachable, multicast, and the former site-local addresses.
 */
const INTERNAL = listOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fec0::/10',
  'ff00::/8',
])

/** Globally reachable rows of the registries inside of unreachable rows. */
const REACHABLE = listOf([
  '192.0.0.9/32',
  '192.0.0.10/32',
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
])

/** The byte positions of IPv4 addresses in IPv6 addresses of a prefix. Teredo inverts the bits of its second address. */
const CARRIERS: readonly { readonly prefix: readonly Subnet[]; readonly places: readonly (readonly number[])[] }[] = [
  // Mapped, translated, compatible, and NAT64.
  { prefix: listOf(['::ffff:0:0/96', '::ffff:0:0:0/96', '::/96', '64:ff9b::/96']), places: [[12, 13, 14, 15]] },
  // Local NAT64: the position follows from the length of the prefix, 48, 56, 64 or 96 bits.
  {
    prefix: listOf(['64:ff9b:1::/48']),
    places: [
      [6, 7, 9, 10],
      [7, 9, 10, 11],
      [9, 10, 11, 12],
      [12, 13, 14, 15],
    ],
  },
  // 6to4.
  { prefix: listOf(['2002::/16']), places: [[2, 3, 4, 5]] },
  // The server of Teredo.
  { prefix: listOf(['2001::/32']), places: [[4, 5, 6, 7]] },
]
const TEREDO = listOf(['2001::/32'])
const MAPPED = listOf(['::ffff:0:0/96'])

/** Reports whether requests to an IP address are allowed; false for invalid text. IPv4 addresses inside of IPv6 are judged as IPv4. */
export function isAllowedAddress(text: string, allowInternal: boolean): boolean {
  const address = readAddress(text)
  if (address === undefined) return false
  const meant = [address, ...carriedBy(address)]
  if (meant.some((one) => isAmong(FORBIDDEN, one))) return false
  return allowInternal || !meant.some((one) => isAmong(INTERNAL, one) && !isAmong(REACHABLE, one))
}

/** The IPv4 addresses inside of an IPv6 address. */
function carriedBy(address: Address): readonly Address[] {
  if (address.bits === 32) return []
  const bytes = bytesOf(address)
  const carried = CARRIERS.flatMap(({ prefix, places }) => (isAmong(prefix, address) ? places : [])).map((places) =>
    places.map((place) => bytes[place] ?? 0),
  )
  if (isAmong(TEREDO, address)) carried.push(bytes.slice(12).map((byte) => byte ^ 0xff))
  // Zeros at a position mean another prefix length, and no address there.
  return carried.map(fromBytes).filter(({ value }) => value !== 0n)
}

function bytesOf({ value }: Address): readonly number[] {
  return Array.from({ length: 16 }, (_, place) => Number((value >> BigInt(8 * (15 - place))) & 0xffn))
}

function fromBytes(bytes: readonly number[]): Address {
  return { bits: 32, value: bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) }
}

/** Parses an address without its zone; undefined for invalid text. */
function readAddress(text: string): Address | undefined {
  const decimals = text.split('.')
  if (decimals.length === 4 && decimals.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) {
    return fromBytes(decimals.map(Number))
  }
  const spelled = `http://[${text.replace(/%.*$/, '')}]/`
  if (!text.includes(':') || !URL.canParse(spelled)) return undefined
  // A URL writes the address in hexadecimal groups only.
  const [before = '', after] = new URL(spelled).hostname.slice(1, -1).split('::')
  const [first, last] = [groupsOf(before), groupsOf(after ?? '')]
  const zeros = Array<bigint>(after === undefined ? 0 : 8 - first.length - last.length).fill(0n)
  return { bits: 128, value: [...first, ...zeros, ...last].reduce((value, group) => (value << 16n) | group, 0n) }
}

function groupsOf(text: string): readonly bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`))
}

function isAmong(subnets: readonly Subnet[], { bits, value }: Address): boolean {
  return subnets.some(({ network, length }) => {
    const rest = BigInt(bits - length)
    return network.bits === bits && value >> rest === network.value >> rest
  })
}

function listOf(subnets: readonly string[]): readonly Subnet[] {
  return subnets.map(readSubnet)
}

/** Parses an address or a subnet. Throws an `Error` for invalid text. */
function readSubnet(text: string): Subnet {
  const [written = '', bits] = text.split('/')
  const network = readAddress(written)
  const length = bits === undefined ? network?.bits : /^\d{1,3}$/.test(bits) ? Number(bits) : undefined
  if (network === undefined || length === undefined || length > network.bits) {
    throw new Error(`'${text}' is no address and no subnet`)
  }
  return { network, length }
}

/**
 * Parses a list of addresses and subnets, such as `10.0.0.0/8`, into a test for membership. Throws an `Error` that names an invalid entry.
 * Always forbidden addresses are never members.
 */
export function addressesAmong(entries: readonly string[]): (address: string) => boolean {
  const listed = listOf(entries)
  return (text) => {
    const address = readAddress(text)
    if (address === undefined || !isAllowedAddress(text, true)) return false
    return [address, ...mappedBy(address)].some((one) => isAmong(listed, one))
  }
}

/** The IPv4 address in an IPv4-mapped IPv6 address: systems treat both alike. */
function mappedBy(address: Address): readonly Address[] {
  return isAmong(MAPPED, address) ? carriedBy(address) : []
}
