import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Listens on a port of its own and gives each connection to the next of the ports that answers. */
export async function roundRobin(ports: () => readonly number[]) {
  let turn = 0
  const sockets = new Set<Socket>()
  const pass = (inside: Socket, attemptsLeft: number) => {
    const choice = ports()
    const outside = connect(choice[turn++ % choice.length] ?? 0, '127.0.0.1')
    sockets.add(outside)
    outside.once('close', () => sockets.delete(outside))
    let isConnected = false
    outside.once('connect', () => {
      isConnected = true
      inside.pipe(outside).pipe(inside)
      outside.once('close', () => inside.destroy())
    })
    outside.on('error', () => {
      if (!isConnected && attemptsLeft > 0) pass(inside, attemptsLeft - 1)
      else inside.destroy()
    })
    inside.once('close', () => outside.destroy())
  }
  const server = createServer((inside) => {
    sockets.add(inside)
    inside.on('error', () => inside.destroy()).once('close', () => sockets.delete(inside))
    pass(inside, ports().length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
