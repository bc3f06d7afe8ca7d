import { once } from 'node:events'
import type { Server } from 'node:net'

/**
 * Binds a server to an address and resolves with its port, which the system chooses when `port` is 0.
 * @throws Error with the `code` of the system: `EADDRINUSE`, `EACCES`, …
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  const listening = once(server, 'listening')
  try {
    server.listen({ host, port })
    await listening
  } catch (error) {
    throw explained(error, host, port)
  }
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

/** The URL that reaches a server on this machine; an address that stands for every interface becomes `localhost`. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `https://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function explained(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return error
  const message = `The address ${host}:${port} is already in use: stop the other server or choose another port`
  return Object.assign(new Error(message, { cause: error }), { code: error.code })
}

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
 * Reports whether a host stands for every interface: servers can listen on it, and no client can connect to it.
 *
 * @example
 * isWildcardHost('0.0.0.0') // true
 */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
