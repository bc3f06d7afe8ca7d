import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A door to a server of this machine that can be shut: who is through is thrown out, and nobody else gets in. */
export interface TcpGate {
  readonly port: number
  shut(): Promise<void>
  open(): Promise<void>
}

/** Opens a gate to a port; it keeps its own port when it opens again. */
export async function tcpGate(target: number): Promise<TcpGate> {
  const sockets = new Set<Socket>()
  const server = createServer((inside) => {
    const outside = connect(target, '127.0.0.1')
    for (const socket of [inside, outside]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(socket)
          inside.destroy()
          outside.destroy()
        })
    }
    inside.pipe(outside).pipe(inside)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    async shut() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    open: () => listen(port),
  }
}
