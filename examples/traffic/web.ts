import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The services of the example: a file, and a clock that never stops ticking. */
export const FILE = 'carried by a zero-trust network\n'.repeat(5000)
const TICK_MS = 50

/** Serves the file at `/file` and the clock at `/clock`, on this machine alone. */
export async function serveWeb(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    if (request.url === '/file') {
      response.end(FILE)
      return
    }
    response.write('tick\n')
    const timer = setInterval(() => response.write('tick\n'), TICK_MS)
    response.once('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { port: typeof address === 'object' && address !== null ? address.port : 0, close }
}

/** Fetches the file through a port, as often as it takes within `patienceMs`; answers how long the last try took, ms. */
export async function fetchFile(port: number, patienceMs = 30_000): Promise<number> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const begun = performance.now()
    const text = await textAt(port).catch(() => undefined)
    if (text === FILE) return Math.round(performance.now() - begun)
    if (Date.now() > deadline)
      throw new Error(`the file did not come through port ${port}: ${text?.length ?? 'nothing'}`)
    await sleep(300)
  }
}

/** Listens to the clock through a port. */
export async function openClock(port: number): Promise<{ readonly isTicking: () => boolean; close(): void }> {
  const request = get({ host: '127.0.0.1', port, path: '/clock', agent: false })
  const [response]: IncomingMessage[] = await once(request, 'response')
  let tickedAt = performance.now()
  response?.on('data', () => {
    tickedAt = performance.now()
  })
  response?.on('error', () => undefined)
  request.on('error', () => undefined)
  return { isTicking: () => performance.now() - tickedAt < 6 * TICK_MS, close: () => request.destroy() }
}

/** How many milliseconds it takes until a clock stands still. Rejects after `patienceMs`. */
export async function untilStopped(clock: { isTicking(): boolean }, patienceMs = 10_000): Promise<number> {
  const begun = performance.now()
  while (clock.isTicking()) {
    if (performance.now() - begun > patienceMs) throw new Error(`still ticking after ${patienceMs} ms`)
    await sleep(10)
  }
  return Math.round(performance.now() - begun)
}

/** Ports of this machine that nobody uses. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createTcpServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

async function textAt(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/file`, { signal: AbortSignal.timeout(5000) })
  return response.text()
}
