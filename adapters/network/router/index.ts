/**
 * An edge router: endpoints connect to it, dial services and host them.
 *
 * @module portcullis/router
 */
import type { StandaloneRouter } from './standalone-router.ts'
import type { RouterByWorkersOptions } from './workers/router-workers.ts'

export type { Channel, ChannelListener } from '../channel/channel.ts'
export { probeController } from './control/controller-channel.ts'
export { enrollRouter, type RouterIdentity } from './control/enrolled-router.ts'
export type { EdgeStranger } from './edge/edge-listener.ts'
export { type OwnRouterOptions, type OwnRouterPorts, openOwnRouter, type RunningRouter } from './own-router.ts'
export { runRouter, type StandaloneRouter, type StandaloneRouterOptions } from './standalone-router.ts'
export type { RouterByWorkersOptions }

/** Runs an edge router that several processes carry. Its code is loaded when it is asked for. */
export async function runRouterByWorkers(
  options: RouterByWorkersOptions,
): Promise<Omit<StandaloneRouter, 'router' | 'edge'>> {
  const door = await import('./workers/router-workers.ts')
  return door.runRouterByWorkers(options)
}

/** Runs one of these processes, which the first one forked. */
export async function runRouterWorker(): Promise<void> {
  const door = await import('./workers/router-worker.ts')
  door.runRouterWorker()
}
