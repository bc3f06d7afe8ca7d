import { expect, it } from 'vitest'
import { ConnectedEndpoints } from '../../adapters/network/router/edge/connected-endpoints.ts'
import type { EdgeChannel } from '../../adapters/network/router/edge/edge-channel.ts'
import type { EdgePosture } from '../../adapters/network/router/edge/edge-posture.ts'
import type { RouterModel } from '../../adapters/network/router/state/router-model.ts'
import { createLoopTurns } from '../../src/data-plane.ts'

const ENDPOINTS = 1000
/** Milliseconds that the judgement of an endpoint takes here, at least. */
const JUDGED_MS = 0.1
/** Milliseconds of long work in one turn of the event loop. */
const SLICE_MS = 3

/** Endpoints of a router whose model knows every identity but those of `gone`. */
function endpoints(gone: ReadonlySet<string>, damaged: ReadonlySet<string> = new Set()) {
  const judged: string[] = []
  const ended: string[] = []
  const logged: unknown[] = []
  const model = {
    get: (_type: string, id: string) => (gone.has(id) ? undefined : { disabled: false }),
    session: () => ({}),
  } as unknown as RouterModel
  const connected = new ConnectedEndpoints({
    model,
    posture: { forget: () => undefined } as unknown as EdgePosture,
    now: () => 0,
    turns: createLoopTurns(),
    report: () => undefined,
    log: (event, fields) => void logged.push([event, fields]),
  })
  for (let number = 0; number < ENDPOINTS; number += 1) {
    const identityId = `i${number}`
    const session = { id: `s${number}`, identityId }
    const channel = {
      client: { session, token: identityId, isBearer: false, issued: { tokenId: '' } },
      judge: () => {
        for (const until = performance.now() + JUDGED_MS; performance.now() < until; );
        judged.push(identityId)
        if (damaged.has(identityId)) throw new Error('it cannot be judged')
      },
      end: () => {
        ended.push(identityId)
        connected.remove(channel)
      },
    } as unknown as EdgeChannel
    connected.add(channel)
  }
  return { connected, judged, ended, logged }
}

it('a change of the whole model judges the endpoints of a router over many turns of the event loop', async () => {
  const { connected, judged, ended } = endpoints(new Set(['i7', 'i999']))
  connected.changed({ ended: 'everything', rights: 'everything' })
  for (let before = -1; judged.length + ended.length < ENDPOINTS; ) {
    before = judged.length
    await new Promise((resolve) => setImmediate(resolve))
    expect(judged.length - before).toBeLessThanOrEqual(2 * (SLICE_MS / JUDGED_MS))
  }
  expect(ended).toEqual(['i7', 'i999'])
})

it('a change that comes while endpoints are judged is judged as well', async () => {
  const { connected, judged } = endpoints(new Set())
  connected.judge()
  while (judged.length === 0) await new Promise((resolve) => setImmediate(resolve))
  connected.changed({ ended: new Set(), rights: new Set(['i0', 'i1']) })
  while (judged.length < ENDPOINTS + 2) await new Promise((resolve) => setImmediate(resolve))
  expect(judged.slice(-2)).toEqual(['i0', 'i1'])
})

it('an endpoint that cannot be judged ends, which the log is told, and all others are judged, also by later changes', async () => {
  const { connected, judged, ended, logged } = endpoints(new Set(), new Set(['i5']))
  for (let changes = 1; changes <= 2; changes += 1) {
    const before = judged.length
    connected.changed({ ended: 'everything', rights: 'everything' })
    const expected = before + ENDPOINTS - (changes - 1)
    for (let turns = 0; judged.length < expected && turns < 1000; turns += 1)
      await new Promise((resolve) => setImmediate(resolve))
    expect(judged.length).toBe(expected)
    expect(ended).toEqual(['i5'])
    expect(logged).toEqual([['endpoint.unjudged', { identityId: 'i5', error: 'Error: it cannot be judged' }]])
  }
})
