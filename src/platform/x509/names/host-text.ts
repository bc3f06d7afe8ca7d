import type { GeneralName } from './general-name.ts'

/** The text of a host name or IP address, IPv6 in its shortest form; nothing for another name or a malformed address. */
export function hostTextOf(name: GeneralName): readonly string[] {
  if (name.kind === 'dns') return [name.value]
  if (name.kind !== 'ip') return []
  if (name.value.length === 4) return [name.value.join('.')]
  return name.value.length === 16 ? [ipv6Text(name.value)] : []
}

function ipv6Text(octets: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, at) => octets.subarray(2 * at, 2 * at + 2))
  const written = groups.map(([high = 0, low = 0]) => (high * 256 + low).toString(16)).join(':')
  // The URL parser shortens addresses as everybody writes them.
  return new URL(`http://[${written}]/`).hostname.slice(1, -1)
}
