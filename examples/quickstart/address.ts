/** A host and a port; the host without brackets. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Reads `127.0.0.1:1280`, `localhost:1280` or `[::1]:1280`; answers `undefined` for anything else. */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain, digits = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

/** Where devices on this machine reach a server; an address that stands for every interface is not one. */
export function reachableAddress({ host, port }: Address): Address {
  return { host: host === '0.0.0.0' || host === '::' ? 'localhost' : host, port }
}

/** Writes an address as it stands in a URL: an IPv6 host in brackets. */
export function formatAddress({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
