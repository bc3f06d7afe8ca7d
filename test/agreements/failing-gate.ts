import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** The fault of one connection: it is cut, or goes silent, after some pieces of data came back over it. */
export interface ConnectionFault {
  /** Counts connections from 0. */
  readonly connection: number
  readonly afterPieces: number
  readonly way: 'fails' | 'hangs'
}

/** A door to a server of this machine, the connections of which fail as they are told to. */
export interface FailingGate {
  readonly port: number
  /** The faults of connections, which are counted from now on. */
  plan(faults: readonly ConnectionFault[]): void
  close(): Promise<void>
}

/** Opens a gate to a port. */
export async function failingGate(target: number): Promise<FailingGate> {
  let faults: readonly ConnectionFault[] = []
  let count = 0
  const server = createServer((inside) => {
    const number = count
    count += 1
    const fault = faults.find(({ connection }) => connection === number)
    const outside = connect(target, '127.0.0.1')
    const both = [inside, outside]
    for (const socket of both) {
      socket
        .on('error', () => undefined)
        .once('close', () => {
          for (const each of both) each.destroy()
        })
    }
    inside.pipe(outside)
    let pieces = 0
    let isSilent = false
    /** The data that was asked for arrived at the server: only its answer is lost. */
    const over = () => {
      if (fault === undefined || pieces < fault.afterPieces) return
      if (fault.way === 'fails') for (const each of both) each.destroy()
      isSilent = true
    }
    over()
    outside.on('data', (data) => {
      over()
      pieces += 1
      if (!isSilent) inside.write(data)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => void sockets.add(socket))
  return {
    port: (server.address() as AddressInfo).port,
    plan: (next) => {
      faults = next
      count = 0
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
