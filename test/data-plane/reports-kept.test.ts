import { expect, it } from 'vitest'
import type { EdgeClient } from '../../adapters/network/router/edge/endpoint.ts'
import { HandedOnReports } from '../../adapters/network/router/edge/handed-on-reports.ts'
import type { ConnectedController } from '../../adapters/network/router/state/controllers.ts'
import type { FromRouter } from '../../src/control-channel.ts'

it('reports that no controller takes are replaced by later ones, however many come before one is back', async () => {
  let controller: ConnectedController | undefined
  const asked: FromRouter[] = []
  const reports = new HandedOnReports(() => controller)
  // A router reads nothing of a client but its session and its token here.
  const client = { session: { id: 's', identityId: 'i' }, token: 't' } as unknown as EdgeClient
  const hash = 'ab'.repeat(5000)
  for (let round = 0; round < 500; round += 1) {
    const process = { path: '/usr/bin/agent', isRunning: round % 2 === 0, hash, signerFingerprints: [] }
    await reports.report({ client }, [{ facts: { domain: `domain ${round}`, processes: [process] }, at: round }])
    expect(reports.isBehind('s')).toBe(false)
  }
  const ask = async (message: FromRouter) => void asked.push(message)
  controller = { id: 'c', judgesPosture: true, takesPosture: true, ask }
  await reports.connected()
  const [handed] = asked
  const facts = handed?.type === 'posture-reported' ? handed.reports : []
  expect(facts.map(({ at }) => at)).toEqual([499, 499])
  expect(facts[0]?.facts).toEqual({ domain: 'domain 499' })
  expect(facts[1]?.facts.processes?.map(({ isRunning }) => isRunning)).toEqual([false])
})

it('reports of ever other processes are kept within a bound, and the endpoint is behind then', async () => {
  const reports = new HandedOnReports(() => undefined)
  const client = { session: { id: 's', identityId: 'i' }, token: 't' } as unknown as EdgeClient
  const paths = Array.from({ length: 100 }, (_, at) => `${at}${'x'.repeat(20_000)}`)
  for (const path of paths) await reports.report({ client }, [{ facts: { processes: [{ path }] }, at: 1 }])
  expect(reports.isBehind('s')).toBe(true)
})
