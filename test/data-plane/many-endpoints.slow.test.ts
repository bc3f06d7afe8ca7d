import type { FromRouter } from 'portcullis/fabric'
import { describe, expect, it } from 'vitest'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { EDGE_HEADER, EDGE_TYPE, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import { textBytes } from '../../adapters/network/channel/header-values.ts'
import { modelCodec } from '../../adapters/network/fabric/messages/model-codec.ts'
import { EdgeRouter } from '../../adapters/network/router/edge-router.ts'
import { FabricRouter } from '../../adapters/network/router/fabric-router.ts'

const FEW = 5000
const MANY = 4 * FEW
/** Four times as many endpoints cost four times as much, and sixteen times where each looks through all others. */
const MOST_TIMES = 9

/** Milliseconds of processor time of this thread. */
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The processor time of endpoints that connect, each with a session that is announced right before, and that leave. */
async function cost(count: number) {
  let gone = 0
  const edges: EdgeRouter[] = []
  const router = new FabricRouter({
    routerId: 'router',
    credentials: () => ({ key: '', clientCert: '', serverCert: '', ca: '' }),
    listeners: [],
    clock: { now: () => performance.now(), timer: () => () => undefined },
    random: Math.random,
    host: (host) => {
      const facts = { id: 'router', caPem: '', version: 'v', advertise: '', timer: () => () => undefined }
      const edge = new EdgeRouter(facts, host)
      edges.push(edge)
      return edge
    },
  })
  const ask = async (message: FromRouter) => {
    if (message.type === 'connect-events' && !message.full && message.identities[0]?.connected === false) gone += 1
    return undefined
  }
  const controller = router.connected({ id: 'c', judgesPosture: true, ask })
  const identities = Array.from({ length: count }, (_, index) => ({
    action: 'create' as const,
    entity: {
      ...{ type: 'identity' as const, id: `i${index}`, name: `i${index}`, disabled: false, appDataJson: '' },
      ...{ defaultHostingPrecedence: 'default' as const, defaultHostingCost: 0 },
      ...{ serviceHostingPrecedences: new Map(), serviceHostingCosts: new Map(), serviceConfigs: new Map() },
    },
  }))
  const state = { type: 'model-state', index: 1, timelineId: 't', subscriptionId: 's' } as const
  await controller.take({ ...state, events: [modelCodec.state(identities)] })

  const began = cpuMs()
  const channels: Channel[] = []
  for (let index = 0; index < count; index += 1) {
    const session = { token: `t${index}`, id: `s${index}`, identityId: `i${index}`, certFingerprints: [] }
    await controller.take({ type: 'api-sessions-added', sessions: [session] })
    const [channel, theirs] = channelPair()
    edges[0]?.greet(theirs, { chain: [], remoteAddress: '127.0.0.1', isOfProcess: true })
    const group = [EDGE_HEADER.isGrouped, EDGE_HEADER.isFirstOfGroup].map((header) => [header, TRUE] as const)
    const token = [EDGE_HEADER.apiSessionToken, textBytes(session.token)] as const
    const headers = new Map([token, [EDGE_HEADER.connectionId, textBytes(`g${index}`)], ...group])
    await new Promise<void>((resolve) => {
      channel.listen({ onMessage: () => resolve(), onClose: () => undefined })
      channel.send({ contentType: EDGE_TYPE.hello, sequence: -1, headers, body: [] })
    })
    channels.push(channel)
  }
  const connected = cpuMs()
  for (const channel of channels) channel.close()
  while (gone < count) await new Promise((resolve) => setImmediate(resolve))
  const left = cpuMs()
  edges[0]?.close()
  router.close()
  return { connecting: connected - began, leaving: left - connected }
}

describe('an edge router with many endpoints', () => {
  it('does the same work for each, however many are connected', async () => {
    const few = await cost(FEW)
    const many = await cost(MANY)
    expect(many.connecting / few.connecting).toBeLessThan(MOST_TIMES)
    expect(many.leaving / few.leaving).toBeLessThan(MOST_TIMES)
  }, 120_000)
})
