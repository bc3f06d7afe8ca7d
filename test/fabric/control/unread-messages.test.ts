import { duplexPair } from 'node:stream'
import { memoryStorage } from 'portcullis/memory'
import { FakeRouter, recordingLogger } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { ChannelSocket } from '../../../adapters/network/channel/channel-socket.ts'
import { encodeFrame, FrameReader } from '../../../adapters/network/channel/frame.ts'
import { uint32Header } from '../../../adapters/network/channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from '../../../adapters/network/fabric/messages/content-types.ts'
import { PROCESS_TYPE } from '../../../adapters/network/fabric/processes/process-messages.ts'
import { ControlChannel } from '../../../adapters/network/router/control/controller-channel.ts'
import { fabricWorld, joinedProcesses } from './fabric-world.ts'

it('a message of another process that cannot be read is logged', async () => {
  const logger = recordingLogger()
  const { processOf, elapse } = await joinedProcesses(['here', 'there'], { logger })
  const names = ['here', 'there'] as const
  for (const name of names) await processOf(name).router(name)
  await vi.waitFor(async () => {
    await elapse(1000)
    for (const name of names) {
      const known = Object.values<unknown>(await processOf(name).call('GET', '/fabric/v1/routers'))
      expect(known.filter((router) => Object(router).connected)).toHaveLength(2)
    }
  })
  const garbled = { contentType: PROCESS_TYPE.message, sequence: 1, headers: new Map(), body: [Buffer.from('{')] }
  processOf('here').say('there', Buffer.concat(encodeFrame(garbled)))
  await vi.waitFor(() =>
    expect(logger.entries).toContainEqual(
      expect.objectContaining({
        message: 'a message of another process could not be taken',
        fields: expect.objectContaining({ address: 'tls:here.test:1' }),
      }),
    ),
  )
})

it('a router that cannot be judged is closed, and the log says why', async () => {
  const logger = recordingLogger()
  const storage = memoryStorage()
  let isAway = false
  const failing: typeof storage = {
    ...storage,
    read: async (work, options) => {
      if (isAway) throw new TypeError('the index is undefined')
      return storage.read(work, options)
    },
  }
  const world = await fabricWorld({}, { storage: failing, logger })
  const enrolled = await world.enroll('edge')
  isAway = true
  expect(await new FakeRouter(enrolled, world.listener).connect()).toMatchObject({ accepted: false, reason: 'closed' })
  expect(logger.entries).toContainEqual(
    expect.objectContaining({
      message: 'a router could not be let in',
      fields: expect.objectContaining({
        routerId: enrolled.id,
        error: expect.stringContaining('the index is undefined'),
      }),
    }),
  )
  isAway = false
})

it('a router is told of an answer of its controller that it cannot read', async () => {
  const [stream, theirs] = duplexPair()
  const all = { headers: 1e6, body: 1e6 }
  const limits = { frame: all, outgoing: { bytes: 1e6, stallMs: 1e6 }, rate: { perSecond: 1e6, burst: 1e6 } }
  const socket = new ChannelSocket(stream, limits, all, { onMessage: () => undefined, onClose: () => undefined })
  const channel = new ControlChannel({ id: 'controller', capabilities: [] }, 'router', socket)
  const unread: unknown[] = []
  const listener = { take: async () => undefined, lost: () => undefined }
  channel.begin({ ...listener, unread: (type, error) => void unread.push([type, String(error)]) }, () => undefined)
  const reader = new FrameReader(all)
  theirs.on('data', (bytes: Uint8Array) => {
    for (const { contentType, sequence } of reader.push(bytes)) {
      if (contentType !== CONTENT_TYPE.createTunnelCircuit) continue
      const headers = new Map([[HEADER.replyFor, uint32Header(sequence)]])
      const answer = { contentType: CONTENT_TYPE.circuitCreated, sequence: 1, headers, body: [Uint8Array.of(255)] }
      theirs.write(Buffer.concat(encodeFrame(answer)))
    }
  })
  const asked = channel.ask({ type: 'create-tunnel-circuit', serviceName: 'web', instanceId: '', peerData: new Map() })
  await expect(asked).rejects.toThrow(/malformed/)
  expect(unread).toEqual([[CONTENT_TYPE.circuitCreated, expect.stringMatching(/malformed/)]])
  channel.close()
})
