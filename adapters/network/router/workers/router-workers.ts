import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { LinkListener } from '../../../../src/control-channel.ts'
import { ROUTER_VERSION } from '../../../../src/data-plane.ts'
import { listen } from '../../channel/listen.ts'
import { ControlConnections } from '../control/control-connections.ts'
import { HeldIdentity } from '../control/held-identity.ts'
import { RouterRenewal } from '../control/router-renewal.ts'
import { EDGE_VERSION, hostsOf, type StandaloneRouter, type StandaloneRouterOptions } from '../standalone-router.ts'
import { dialedHost } from '../state/opened-socket.ts'
import { WorkerPool } from './worker-pool.ts'
import { WorkersRouter } from './workers-router.ts'

/** The options of a router that several processes carry. */
export interface RouterByWorkersOptions extends Omit<StandaloneRouterOptions, 'listen'> {
  readonly listen: string
  /** How many processes carry its circuits. */
  readonly workers: number
  /** Forks a process that calls `runRouterWorker`, with the serialization `advanced`. */
  readonly fork: () => ChildProcess
}

/**
 * Runs an edge router whose circuits are carried by several processes: one router to everybody, with one identity and one address. This process
 * speaks with its controllers, accepts connections and hands them out. It resolves when the port is open.
 */
export async function runRouterByWorkers(options: RouterByWorkersOptions): Promise<Omit<StandaloneRouter, 'router'>> {
  const { identity, log, linkGroups = ['default'], dialGroups = ['default'] } = options
  const keep = (changed: typeof identity) => options.onChange?.(changed)
  const held = new HeldIdentity(identity, keep, () => {
    for (const index of pool.ready) pool.send(index, { type: 'credentials', credentials: credentials() })
  })
  const credentials = () => {
    const { key, clientCert, serverCert, ca } = held.credentials
    return { key, clientCert, serverCert, ca }
  }
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-router-'))
  // Workers read nothing of a connection before they have it, and neither does this process.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined)
    pool.hand(socket)
  })
  const place = dialedHost(`tls:${options.listen}`)
  const port = await listen(server, place.host, place.port)
  const address = (options.advertise ?? options.listen).replace(/:0$/, `:${port}`)
  const takesLinks = linkGroups.length > 0
  const listeners: readonly LinkListener[] = takesLinks
    ? [{ address: `tls:${address}`, protocol: 'tls', groups: linkGroups, localBinding: '' }]
    : []
  const router = new WorkersRouter({ routerId: identity.id, advertise: address }, (event, fields) =>
    log?.(event, fields),
  )
  const pool = new WorkerPool({
    count: options.workers,
    fork: options.fork,
    facts: (index) => ({
      ...{ index, routerId: identity.id, version: EDGE_VERSION, advertise: address, listeners, dialGroups, takesLinks },
      credentials: credentials(),
      path: join(folder, `${index}.sock`),
    }),
    ready: (index) => router.ready(index),
    received: (index, message) => router.received(index, message),
    lost: (index) => {
      void rm(join(folder, `${index}.sock`), { force: true })
      router.lost(index)
    },
    parted: (one, other) => router.parted(one, other),
    ...(log && { log }),
  })
  router.begin(pool, (index) => join(folder, `${index}.sock`))
  const ended = async () => {
    await pool.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await pool.start()
  } catch (error) {
    server.close()
    await ended()
    throw error
  }
  const renewal = new RouterRenewal(
    {
      ...{ routerId: identity.id, held, hosts: hostsOf(identity.serverCert) },
      ...(options.renewsAtOnce && { atOnce: true }),
      ...(log && { log }),
    },
    router,
  )
  const connections = new ControlConnections(
    {
      router: { routerId: identity.id, version: ROUTER_VERSION, linkListeners: listeners },
      ...{ held, addresses: identity.controllers },
      ...(log && { log }),
    },
    renewal,
  )
  return {
    address,
    get controllers() {
      return connections.connected
    },
    close: async ({ graceMs = 0 } = {}) => {
      const closed = once(server, 'close')
      server.close()
      const deadline = runtime.monotonic() + graceMs
      const left = await router.stop()
      if (graceMs > 0 && left > 0) await connections.quiesce()
      if (left > 0) await router.untilEmpty(deadline - runtime.monotonic())
      renewal.close()
      router.close()
      await ended()
      connections.close()
      await closed
      await held.idle()
    },
  }
}
