import { expect, it } from 'vitest'
import { writePayload } from '../../adapters/network/channel/circuit-frames.ts'
import { readMessage, writeFromRouter } from '../../adapters/network/fabric/messages/rows-from-router.ts'
import { Forwarder } from '../../adapters/network/router/forwarder.ts'
import type { FromRouter } from '../../src/control-channel.ts'

const CIRCUITS = 60_000

it('a controller reads the bytes of all circuits of a router, and which of them are idle, however many there are', () => {
  let now = 0
  let work: () => void = () => undefined
  const told: FromRouter[] = []
  const forwarder = new Forwarder({
    ...{ routerId: 'router', now: () => now, epoch: () => now },
    tell: (_controllerId, message) => void told.push(message),
    timer: (_ms, next) => {
      work = next
      return () => undefined
    },
  })
  const nowhere = { take: () => undefined, isFullFor: () => false, whenRoom: () => undefined }
  for (const address of ['client', 'host']) forwarder.attach(address, nowhere)
  const forwards = [
    { srcAddress: 'client', dstAddress: 'host', dstType: 'end' },
    { srcAddress: 'host', dstAddress: 'client', dstType: 'start' },
  ] as const
  const body = Uint8Array.of(1)
  for (let number = 0; number < CIRCUITS; number += 1) {
    const circuitId = `circuit-${number}`
    expect(forwarder.route('controller', { circuitId, forwards })).toBeUndefined()
    const payload = writePayload({ circuitId, sequence: 0, flags: 0, sentAt: undefined, items: new Map(), body })
    forwarder.forward('client', { ...payload, sequence: 0 })
  }
  now = 61_000
  work()
  const read = told.map((message) => readMessage({ ...writeFromRouter(message), sequence: 1 } as never))
  const used = read.flatMap((message) => (message?.type === 'metrics' ? message.usage : []))
  const idle = read.flatMap((message) => (message?.type === 'circuit-confirmation' ? message.circuitIds : []))
  expect([new Set(used.map(({ circuitId }) => circuitId)).size, new Set(idle).size]).toEqual([CIRCUITS, CIRCUITS])
})
