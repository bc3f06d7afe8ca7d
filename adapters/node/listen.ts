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
