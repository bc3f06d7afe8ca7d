import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchRow } from '../row.ts'
import { type CarriedService, hostOf, type Member, untilHosted } from './carriers.ts'
import type { Crowd, CrowdDials } from './crowd-process.ts'
import { Endpoint } from './endpoint.ts'
import type { MeasuredProcess } from './measured-process.ts'

const ENDPOINTS = 10_000
const TARGET = 'holds under 20 ms'
/** Milliseconds for the router to notice that endpoints left. */
const LEAVING_MS = 5000

/** For how long the loop of a router is held when 10,000 endpoints dial a service at once, and when all of them leave at once. */
export async function* rowsOfCrowd(
  router: MeasuredProcess,
  member: Member,
  service: CarriedService,
): AsyncGenerator<BenchRow> {
  const host = await Endpoint.open(`tls://${service.address}`, member.endpoint)
  const dialing = await hostOf(host, member, service)
  await untilHosted(() => host.dial(dialing))
  const child = fork(new URL('crowd-process.ts', import.meta.url), { execArgv: ['--conditions=portcullis-source'] })
  const crowd: Crowd = { address: service.address, endpoint: member.endpoint, count: ENDPOINTS }
  child.send(crowd)
  await once(child, 'message')
  await router.told()
  child.send({ dial: dialing })
  const [dialed]: CrowdDials[] = await once(child, 'message')
  if (dialed === undefined) throw new Error('the crowd did not dial')
  const { tookMs, through, refused } = dialed
  const details = `${through} are through; ${JSON.stringify(refused)}`
  yield { name: `${ENDPOINTS} endpoints dial at once`, value: tookMs, unit: 'ms', ...(await heldBy(router)), details }
  child.send('leave')
  await sleep(LEAVING_MS)
  yield { name: `${ENDPOINTS} endpoints leave at once`, value: ENDPOINTS, unit: '', ...(await heldBy(router)) }
  child.kill()
  host.close()
}

async function heldBy(router: MeasuredProcess): Promise<Pick<BenchRow, 'longestHoldMs' | 'target'>> {
  const { holdMs } = await router.told()
  return { ...(holdMs !== undefined && { longestHoldMs: holdMs }), target: TARGET }
}
