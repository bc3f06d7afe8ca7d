/** A host and a port; the host without brackets. */
export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Reads `127.0.0.1:1280`, `localhost:1280` or `[::1]:1280`; answers `undefined` for anything else. Port 0 is allowed.
 *
 * @example
 * parseAddress('[::1]:1280') // { host: '::1', port: 1280 }
 */
export function parseAddress(text: string): Address | undefined {
  const [, bracketed, plain, digits = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

/**
 * Writes an address as it stands in a URL: an IPv6 host in brackets.
 *
 * @example
 * formatAddress({ host: '::1', port: 1280 }) // '[::1]:1280'
 */
export function formatAddress({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Reports whether a host stands for every interface: something to listen on, but no place to send a device to.
 *
 * @example
 * isWildcardHost('0.0.0.0') // true
 */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
