import type { DialProcess, ProcessSession } from '../../../../src/control-channel.ts'
import type { ControlPlane } from '../../../../src/index.ts'
import { ProcessConnection, type ProcessSocket, provenSocket } from './process-connection.ts'
import { readFromHolder, readToHolder } from './process-messages.ts'

/** The part of the data plane that other processes use. */
export type ProcessPlane = Pick<ControlPlane, 'proofs' | 'serveProcess'>

/** Serves another process on a socket after its proof. Rejects, with the socket closed, for any other peer. */
export async function acceptProcess(plane: ProcessPlane, socket: ProcessSocket): Promise<void> {
  const { socket: proven, address } = await provenSocket(socket, 'accepted', plane.proofs)
  let session: ProcessSession | undefined
  const connection = new ProcessConnection(
    proven,
    (frame) => {
      const message = readToHolder(frame)
      if (message !== undefined) session?.received(message)
    },
    (failure) => session?.closed(failure),
  )
  session = plane.serveProcess(connection, address)
  proven.resume()
}

/** Dials other processes by sockets that its caller opens. */
export function processDialer(open: (address: string) => Promise<ProcessSocket>): DialProcess {
  return async (address, proofs, listener) => {
    const { socket: proven } = await provenSocket(await open(address), 'dialed', proofs)
    const connection = new ProcessConnection(
      proven,
      (frame) => {
        const message = readFromHolder(frame)
        if (message !== undefined) listener.received(message)
      },
      (failure) => listener.closed(failure),
    )
    proven.resume()
    return connection
  }
}
