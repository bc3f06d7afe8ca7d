import { describe, expect, it } from 'vitest'
import type { ConnectedController } from '../../adapters/network/router/state/controllers.ts'
import { RouterSessions } from '../../adapters/network/router/state/router-sessions.ts'
import { SharedFacts } from '../../adapters/network/router/workers/shared-facts.ts'
import { SpreadCircuits } from '../../adapters/network/router/workers/spread-circuits.ts'
import { WorkerRequests } from '../../adapters/network/router/workers/worker-requests.ts'
import type { FromRouter } from '../../src/control-channel.ts'

const session = (id: string) => ({ id, token: `token of ${id}`, identityId: 'someone', certFingerprints: [] })
const part = (syncId: string, sequence: number, ids: readonly string[], isLast = false) => {
  return { type: 'api-sessions-added', sessions: ids.map(session), full: { syncId, sequence, isLast } } as const
}
const added = (...ids: string[]) => ({ type: 'api-sessions-added', sessions: ids.map(session) }) as const
const idsOf = (sessions: RouterSessions) => [...sessions.all()].map(({ id }) => id).sort()

describe('a router that hears of all sessions', () => {
  it('forgets none of them where two controllers report at once, part by part', () => {
    const sessions = new RouterSessions()
    sessions.take(added('0'), 'one')
    const ended = [
      sessions.take(part('r', 0, ['a', 'b']), 'one'),
      sessions.take(part('r', 0, ['a', 'b']), 'other'),
      sessions.take(part('r', 1, ['c'], true), 'one'),
      sessions.take(part('r', 1, ['c'], true), 'other'),
    ].flatMap((ids) => [...ids])
    expect([idsOf(sessions), ended]).toEqual([['a', 'b', 'c'], ['0']])
  })

  it('keeps a session that was announced while the report was on its way, or began after it was made', () => {
    const sessions = new RouterSessions()
    sessions.take(added('1', '9'), 'one')
    sessions.take(part('r', 0, ['2', '3']), 'one')
    sessions.take(added('2b'), 'one')
    sessions.update([session('2c')])
    expect([...sessions.take(part('r', 1, ['4'], true), 'one')]).toEqual(['1'])
    expect(idsOf(sessions)).toEqual(['2', '2b', '2c', '3', '4', '9'])
    // A report without an entry leaves out all of them.
    expect([...sessions.take(part('s', 0, [], true), 'one')].sort()).toEqual(['2', '2b', '2c', '3', '4', '9'])
  })
})

it('a router of several workers remembers no terminator that its controller refused', async () => {
  const circuits = new SpreadCircuits({ take: async () => undefined, tell: () => undefined })
  const code = 'access-denied'
  const controller: ConnectedController = {
    id: 'controller',
    judgesPosture: true,
    ask: async (message) => {
      if (message.type !== 'create-terminator') return undefined
      const terminatorId = message.address
      if (terminatorId === 'good') return { type: 'terminator-created', terminatorId, startTime: 0n }
      return { type: 'terminator-refused', terminatorId, code, hint: 'default', message: 'no' }
    },
  }
  const requests = new WorkerRequests(new Map([['controller', controller]]), new SharedFacts(), circuits)
  for (const address of ['bad', 'good', 'worse']) {
    const texts = { address, sessionToken: '', apiSessionToken: '', instanceId: '', precedence: 'default' } as const
    const message: FromRouter = {
      ...{ type: 'create-terminator', ...texts, cost: 0, peerData: new Map(), instanceSecret: new Uint8Array(0) },
    }
    await requests.ask(1, { type: 'ask', number: 1, controllerId: 'controller', message })
  }
  expect(circuits.lost(1)).toEqual(['good'])
})
