import { expect, it, vi } from 'vitest'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { EDGE_HEADER, EDGE_TYPE, textIn } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { boolHeader, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { readReports } from '../../adapters/network/channel/posture-messages.ts'
import { RouterPool } from '../../adapters/network/sdk/routers/router-pool.ts'

/** A pool of channels to one played router, which answers when the test says so; time goes on by `pass`. */
function pool(token = 'first') {
  const heard: Frame[] = []
  let timers: { readonly at: number; readonly work: () => void }[] = []
  let now = 0
  let isClosed = false
  const [own, theirs] = channelPair()
  theirs.listen({
    onMessage: (frame) => void heard.push(frame),
    onClose: () => {
      isClosed = true
    },
  })
  const answer = (contentType: number, headers: readonly (readonly [number, Uint8Array])[] = []) => {
    const sequence = heard.at(-1)?.sequence ?? 0
    const all = new Map([[EDGE_HEADER.replyFor, uint32Header(sequence)] as const, ...headers])
    theirs.send({ contentType, sequence: 1, headers: all, body: [] })
  }
  const routers = new RouterPool({
    connect: async () => own,
    hello: async () => ({ apiSessionToken: token, identityId: 'me' }),
    now: () => now,
    timer: (ms, work) => {
      const timer = { at: now + ms, work }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
  })
  const pass = (ms: number) => {
    now += ms
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { work } of due) work()
  }
  const updates = () => heard.filter(({ contentType }) => contentType === EDGE_TYPE.updateToken).map(textIn)
  const admit = () =>
    answer(EDGE_TYPE.result, [
      [EDGE_HEADER.isAccepted, boolHeader(true)],
      [EDGE_HEADER.supportsPosture, boolHeader(true)],
    ])
  return { routers, heard, answer, admit, pass, updates, isClosed: () => isClosed }
}

it('a token that is replaced while a router is greeted by the one before reaches that router as well', async () => {
  const { routers, heard, admit, updates } = pool()
  const opening = routers.channelTo('tls:router:1')
  await vi.waitFor(() => expect(heard).toHaveLength(1))
  routers.updateToken('second')
  admit()
  await opening
  await vi.waitFor(() => expect(updates()).toEqual(['second']))
})

it('a router that is silent to a new token keeps its connections and is asked again, one that refuses it loses them', async () => {
  const { routers, heard, admit, answer, pass, updates, isClosed } = pool()
  const opening = routers.channelTo('tls:router:1')
  await vi.waitFor(() => expect(heard).toHaveLength(1))
  admit()
  const channel = await opening
  routers.updateToken('second')
  await vi.waitFor(() => expect(updates()).toEqual(['second']))
  pass(15_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(channel.isOpen).toBe(true)
  pass(1000)
  await vi.waitFor(() => expect(updates()).toEqual(['second', 'second']))
  answer(EDGE_TYPE.stateClosed)
  await vi.waitFor(() => expect(isClosed()).toBe(true))
})

it('a router hears all that was reported before it was connected, and while it was greeted', async () => {
  const { routers, heard, admit } = pool('ey.access.token')
  routers.report({ domain: 'corp.example', processes: [{ path: '/usr/bin/agent' }, { path: '/usr/bin/other' }] })
  routers.report({ processes: [{ path: '/usr/bin/other', isRunning: false }] })
  const opening = routers.channelTo('tls:router:1')
  await vi.waitFor(() => expect(heard).toHaveLength(1))
  routers.report({ processes: [{ path: '/usr/bin/third' }] })
  admit()
  await opening
  const reports = () => heard.filter(({ contentType }) => contentType === EDGE_TYPE.posture)
  await vi.waitFor(() => expect(reports()).toHaveLength(1))
  const facts = reports().flatMap(({ body }) => readReports(Buffer.concat(body)).map((report) => report.facts))
  expect(facts.find(({ domain }) => domain !== undefined)).toEqual({ domain: 'corp.example' })
  const running = facts.flatMap(({ processes = [] }) => processes.map(({ path, isRunning }) => [path, isRunning]))
  expect(running).toEqual([
    ['/usr/bin/agent', true],
    ['/usr/bin/other', false],
    ['/usr/bin/third', true],
  ])
})

it('a channel whose session was replaced while its router was greeted serves no later dial', async () => {
  const { routers, heard, admit, isClosed } = pool()
  const opening = routers.channelTo('tls:router:1')
  await vi.waitFor(() => expect(heard).toHaveLength(1))
  routers.retire()
  admit()
  const channel = await opening
  expect([channel.isOpen, routers.isConnected('tls:router:1')]).toEqual([true, false])
  routers.close()
  await vi.waitFor(() => expect(isClosed()).toBe(true))
})
