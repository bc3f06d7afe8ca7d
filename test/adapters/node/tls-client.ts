import { once } from 'node:events'
import type { TcpSocketConnectOpts } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'

/** An open TLS connection to this machine; the server's certificate is taken as it is. */
export async function openTls(
  port: number,
  options: ConnectionOptions & Pick<TcpSocketConnectOpts, 'localAddress'> = {},
): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** Everything that a connection receives until the server closes it. */
export async function receiveAll(socket: TLSSocket): Promise<string> {
  let received = ''
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  await once(socket, 'close')
  return received
}

/** The text that a connection receives up to and including `mark`. */
export async function receiveUntil(socket: TLSSocket, mark: string): Promise<string> {
  let received = ''
  while (!received.includes(mark)) {
    const [chunk]: Buffer[] = await once(socket, 'data')
    received += chunk
  }
  return received
}
