import type { BenchRow } from '../row.ts'
import { LARGE, MEDIUM, network } from '../scale/network.ts'
import { adminToken, callerOf } from './bench-api.ts'
import { LoopHold } from './loop-hold.ts'
import { routerCrowd } from './router-crowd.ts'

/** How long routers that all connect at once wait for the data model of 5,000 identities. */
export async function benchConnecting(count: number): Promise<BenchRow[]> {
  const { controller } = await network(MEDIUM)
  const crowd = await routerCrowd(controller, count)
  const before = process.memoryUsage().rss
  const loop = new LoopHold()
  const begun = performance.now()
  await crowd.connect()
  const took = performance.now() - begun
  loop.stop()
  const memory = process.memoryUsage().rss - before
  await crowd.close()
  const name = `${count} routers connect at once, 5,000 identities`
  return [
    { name: `${name}: all have the model`, value: took, unit: 'ms', longestHoldMs: loop.take() },
    { name: `${name}: memory of the controller`, value: memory / 1e6, unit: 'MB' },
  ]
}

/** How long a change of a policy for 100,000 identities takes to its writer, and to the last of many routers. */
export async function benchPolicyChange(count: number): Promise<BenchRow[]> {
  const { controller } = await network(LARGE)
  const crowd = await routerCrowd(controller, count)
  const loop = new LoopHold()
  let begun = performance.now()
  await crowd.connect()
  const connected = { took: performance.now() - begun, longestHoldMs: loop.take() }
  const call = callerOf(controller, await adminToken(controller))
  loop.take()
  begun = performance.now()
  const changed = crowd.changed()
  const roles = { serviceRoles: ['@s1'], identityRoles: ['#all'] }
  await call('POST', '/service-policies', { name: 'for all', type: 'Dial', semantic: 'AnyOf', ...roles })
  const answered = performance.now() - begun
  await changed
  const took = performance.now() - begun
  loop.stop()
  await crowd.close()
  const name = `a policy for all 100,000 identities, ${count} routers`
  const { longestHoldMs } = connected
  return [
    { name: `${count} routers connect at once, 100,000 identities`, value: connected.took, unit: 'ms', longestHoldMs },
    { name: `${name}: the writer is answered`, value: answered, unit: 'ms' },
    { name: `${name}: the last router has it`, value: took, unit: 'ms', longestHoldMs: loop.take() },
  ]
}
