import { expect, it } from 'vitest'
import { EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import { writeReports } from '../../adapters/network/channel/posture-messages.ts'
import { ConnectedEndpoints } from '../../adapters/network/router/edge/connected-endpoints.ts'
import type { EdgeChannel } from '../../adapters/network/router/edge/edge-channel.ts'
import { EdgePosture } from '../../adapters/network/router/edge/edge-posture.ts'
import type { RouterModel } from '../../adapters/network/router/state/router-model.ts'
import { createLoopTurns } from '../../src/data-plane.ts'

/** An endpoint whose posture its router judges, by a clock that may fail. */
async function endpoint(now: () => number) {
  const judged: string[] = []
  const logged: unknown[] = []
  const model = {
    get: (type: string) => (type === 'identity' ? { disabled: false } : undefined),
    grantsOf: () => [],
    signingKey: () => undefined,
  }
  const posture = new EdgePosture({ model, controller: () => undefined, now })
  await posture.connected({ judgesPosture: false })
  const endpoints = new ConnectedEndpoints({
    model: model as unknown as RouterModel,
    posture,
    now: () => 0,
    turns: createLoopTurns(),
    report: () => undefined,
    log: (event, fields) => void logged.push([event, fields]),
  })
  const session = { id: 's', identityId: 'laptop', expiresAt: 1 }
  const channel = {
    client: { session, token: '', isBearer: true, issued: { tokenId: '', at: undefined } },
    judge: () => void judged.push('laptop'),
    end: () => void judged.push('ended'),
  } as unknown as EdgeChannel
  endpoints.add(channel)
  const report = (body: Uint8Array) =>
    endpoints.reported(channel, { contentType: EDGE_TYPE.posture, sequence: 1, headers: new Map(), body: [body] })
  return { report, judged, logged }
}

it('a report that fails a router is told to its log, and its endpoint is judged by what is known', async () => {
  const { report, judged, logged } = await endpoint(() => {
    throw new TypeError('the clock is undefined')
  })
  await report(writeReports({ domain: 'corp.example' }, 0))
  expect(logged).toEqual([['posture.untaken', { identityId: 'laptop', error: 'TypeError: the clock is undefined' }]])
  expect(judged).toEqual(['laptop'])
})

it('a report that is malformed is no news for the log', async () => {
  const { report, judged, logged } = await endpoint(() => 0)
  await report(Uint8Array.of(255))
  expect([judged, logged]).toEqual([['laptop'], []])
})
