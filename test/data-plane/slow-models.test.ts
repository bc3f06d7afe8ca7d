import { duplexPair } from 'node:stream'
import type { ToRouter } from 'portcullis/fabric'
import { expect, it, vi } from 'vitest'
import { ChannelSocket } from '../../adapters/network/channel/channel-socket.ts'
import { encodeFrame } from '../../adapters/network/channel/frame.ts'
import { writeMessage } from '../../adapters/network/fabric/messages/rows-to-router.ts'
import { ControlChannel } from '../../adapters/network/router/control/controller-channel.ts'

const LIMITS = {
  frame: { headers: 65_536, body: 2 ** 28 },
  outgoing: { bytes: 2 ** 24, stallMs: 15_000 },
  rate: { perSecond: 1e6, burst: 1e6 },
}

it('a model that takes longer than a controller may be silent ends no control channel, and silence does', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  try {
    const [controller, own] = duplexPair()
    controller.resume()
    const nobody = { onMessage: () => undefined, onClose: () => undefined }
    const socket = new ChannelSocket(own, LIMITS, LIMITS.frame, nobody)
    const channel = new ControlChannel({ id: 'controller', capabilities: [] }, 'router', socket)
    const taken: ToRouter[] = []
    const lost = vi.fn()
    const take = async (message: ToRouter) => void taken.push(message)
    channel.begin({ take, lost: () => undefined }, lost)
    const events = [new Uint8Array(60_000)]
    const model = writeMessage({ type: 'model-state', index: 1, timelineId: 't', subscriptionId: 's', events })
    const bytes = Buffer.concat(encodeFrame({ ...model, sequence: 1 }))
    // Two minutes for all of it.
    for (let at = 0; at < bytes.length; at += 500) {
      controller.write(bytes.subarray(at, at + 500))
      await vi.advanceTimersByTimeAsync(1000)
      expect(lost).not.toHaveBeenCalled()
    }
    await vi.waitFor(() => expect(taken.map(({ type }) => type)).toEqual(['model-state']))
    await vi.advanceTimersByTimeAsync(45_000)
    expect(lost).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})
