import { describe, expect, it } from 'vitest'
import type { Message } from '../../adapters/network/channel/conversation.ts'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import { EDGE_TYPE, edgeMessage, textIn } from '../../adapters/network/channel/edge-messages.ts'
import { textBytes } from '../../adapters/network/channel/header-values.ts'
import type { BoundService } from '../../adapters/network/router/edge/bound-service.ts'
import type { EdgeCircuits } from '../../adapters/network/router/edge/edge-circuits.ts'
import { HostedServices } from '../../adapters/network/router/edge/hosting-endpoints.ts'
import type { ConnectedController } from '../../adapters/network/router/state/controllers.ts'
import type { ToRouter } from '../../src/control-channel.ts'

type Host = BoundService['host']

/** A service that is hosted at a router, and a controller that answers as a test says. */
async function hosted() {
  let next: 'takes' | 'busy' | 'away' | 'refuses' = 'takes'
  let asked = 0
  const controller: ConnectedController = {
    id: 'controller',
    judgesPosture: true,
    ask: async (message): Promise<ToRouter | undefined> => {
      if (message.type !== 'create-terminator') return undefined
      asked += 1
      const terminatorId = message.address
      if (next === 'away') throw new Error('the controller is away')
      if (next === 'takes') return { type: 'terminator-created', terminatorId, startTime: 0n }
      const hint = next === 'busy' ? 'too-busy' : 'default'
      return { type: 'terminator-refused', terminatorId, code: 'access-denied', hint, message: 'no' }
    },
  }
  const sent: Message[] = []
  const session = { id: 's', identityId: 'i', fingerprints: [], expiresAt: undefined, allowsExpiredCertificate: true }
  const client = {
    session,
    token: 't',
    isBearer: false,
    issued: { tokenId: '', at: undefined },
    certificate: undefined,
  }
  // A host does nothing else here.
  const host = {
    client: { ...client, name: 'host' },
    bind: () => undefined,
    release: () => true,
    reply: () => undefined,
    send: (message: Message) => void sent.push(message),
  } as unknown as Host
  const services = new HostedServices({
    // Pauses take a moment.
    timer: (ms, work) => processTimer(ms >= 30_000 ? ms : 1, work),
    circuits: {} as EdgeCircuits,
    posture: {
      ...{ isJudge: false, refusal: () => undefined, standing: () => undefined },
      ...{
        explained: async (_host, _what, refusal) => refusal,
        settled: async () => undefined,
        watch: async () => undefined,
      },
    },
    now: () => 0,
    controller: () => controller,
  })
  const bind = edgeMessage(EDGE_TYPE.bind, 1, [], textBytes('token'))
  await services.bind(host, { ...bind, sequence: 1 })
  const answerBy = (how: typeof next) => {
    next = how
  }
  return { services, sent, answerBy, asked: () => asked }
}

describe('what is hosted when a controller connects again', () => {
  it.each(['busy', 'away'] as const)('stays while that one is %s, and is offered until it is taken', async (how) => {
    const { services, sent, answerBy, asked } = await hosted()
    answerBy(how)
    await services.registerAll()
    await services.registerAll()
    await expect.poll(asked).toBeGreaterThan(8)
    expect([services.size, sent]).toEqual([1, []])
    answerBy('takes')
    const before = asked()
    await expect.poll(asked).toBeGreaterThan(before)
    expect([services.size, sent]).toEqual([1, []])
  })

  it('ends where that one refuses it', async () => {
    const { services, sent, answerBy } = await hosted()
    answerBy('refuses')
    await services.registerAll()
    expect([services.size, sent.map(textIn)]).toEqual([0, ['no']])
  })
})
