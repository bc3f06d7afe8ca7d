import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { listen } from '../../channel/listen.ts'
import { HeldIdentity } from '../control/held-identity.ts'
import {
  addressAt,
  connectToControllers,
  DEFAULT_GROUPS,
  EDGE_VERSION,
  linkListeners,
  type StandaloneRouter,
  type StandaloneRouterOptions,
  takesLinks,
} from '../standalone-router.ts'
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
 * Runs an edge router whose circuits are carried by several processes: one router to its peers, with one identity and one address. This process
 * speaks with its controllers, accepts connections and hands them out. It resolves when the port is open.
 */
export async function runRouterByWorkers(
  options: RouterByWorkersOptions,
): Promise<Omit<StandaloneRouter, 'router' | 'edge'>> {
  const { identity, log } = options
  const held = new HeldIdentity(
    identity,
    (changed) => options.onChange?.(changed),
    () => {
      for (const index of pool.ready) pool.send(index, { type: 'credentials', credentials: shownBy(held) })
    },
  )
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-router-'))
  const pathOf = (index: number) => join(folder, `${index}.sock`)
  // Workers read nothing of a connection before they have it, and neither does this process.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined)
    pool.hand(socket)
  })
  const place = dialedHost(`tls:${options.listen}`)
  const address = addressAt(await listen(server, place.host, place.port), options.advertise ?? options.listen)
  const listeners = linkListeners(address, options)
  const facts = { routerId: identity.id, advertise: address }
  const router = new WorkersRouter(facts, (event, fields) => log?.(event, fields))
  const { dialGroups = DEFAULT_GROUPS } = options
  const carried = { version: EDGE_VERSION, listeners, dialGroups, takesLinks: takesLinks(options) }
  const pool = new WorkerPool({
    ...{ count: options.workers, fork: options.fork },
    facts: (index) => ({ ...facts, ...carried, index, credentials: shownBy(held), path: pathOf(index) }),
    ready: (index) => router.ready(index),
    received: (index, message) => router.received(index, message),
    lost: (index) => {
      void rm(pathOf(index), { force: true })
      router.lost(index)
    },
    parted: (one, other) => router.parted(one, other),
    ...(log && { log }),
  })
  router.begin(pool, pathOf)
  const endWorkers = async () => {
    await pool.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await pool.start()
  } catch (error) {
    server.close()
    await endWorkers()
    throw error
  }
  const { renewal, connections } = connectToControllers(router, held, options, listeners)
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
      await endWorkers()
      connections.close()
      await closed
      await held.idle()
    },
  }
}

/** The credentials that workers show, without what only this process needs. */
function shownBy({ credentials }: HeldIdentity) {
  const { key, clientCert, serverCert, ca } = credentials
  return { key, clientCert, serverCert, ca }
}
