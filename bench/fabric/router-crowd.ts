import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type ControlListener, openControlListener } from 'portcullis/fabric'
import { enrollEdgeRouter, type TestController } from 'portcullis/testing'
import { adminToken } from './bench-api.ts'

const PROGRAM = fileURLToPath(new URL('../played-routers.ts', import.meta.url))

/** Routers that are played by another process, over sockets of this machine. */
export interface RouterCrowd {
  /** Connects all of them at once; resolves when each has the whole model. */
  connect(): Promise<void>
  /** Resolves when each has received another change of the model. */
  changed(): Promise<void>
  close(): Promise<void>
}

/** Enrolls routers and starts the process that plays them. */
export async function routerCrowd(controller: TestController, count: number): Promise<RouterCrowd> {
  const dataPlane = await openControlListener(controller, { addresses: ['tls:bench:1'] })
  // A router that is closed would be waited for in vain.
  controller.events.on('router.misbehaved', ({ routerId, what }) => console.error(`router ${routerId}: ${what}`))
  const token = await adminToken(controller)
  const chains = new Map<string, readonly Uint8Array[]>()
  for (let at = 0; at < count; at += 1) {
    const { id, chain } = await enrollEdgeRouter(controller, token, { name: `played ${at}` })
    chains.set(id, chain)
  }
  const server = createServer((socket) => introduce(socket, dataPlane, chains))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const child = fork(PROGRAM, [String(port), ...chains.keys()], { execArgv: ['--conditions=portcullis-source'] })
  await told(child, 'ready')
  return {
    connect: async () => {
      const done = told(child, 'states')
      child.send('connect')
      await done
    },
    changed: () => told(child, 'changes'),
    close: async () => {
      child.kill()
      server.close()
      await dataPlane.close()
    },
  }
}

/** The first line of a socket names the router; a TLS handshake would have shown its certificate. */
function introduce(
  socket: Socket,
  dataPlane: ControlListener,
  chains: ReadonlyMap<string, readonly Uint8Array[]>,
): void {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.once('data', (bytes: Buffer) => {
    const end = bytes.indexOf('\n')
    socket.pause()
    const rest = bytes.subarray(end + 1)
    if (rest.length > 0) socket.unshift(rest)
    dataPlane.accept(socket, chains.get(bytes.toString('utf8', 0, end)) ?? [], '127.0.0.1')
    socket.resume()
  })
}

function told(child: ChildProcess, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const listen = (message: unknown) => {
      if (message !== what) return
      child.off('message', listen)
      resolve()
    }
    child.on('message', listen)
    child.once('exit', (code) => reject(new Error(`the process that plays routers ended with ${code}`)))
  })
}
