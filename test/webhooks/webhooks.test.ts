import { SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { answer, receiver, signatureOf, storyOf } from './receiver.ts'

const LOOPBACK = { allow: ['127.0.0.1'] }
const DAY_MS = 24 * 3_600_000

async function scene(options: TestControllerOptions = {}) {
  const controller = await createTestController(await withSharedPki({ webhooks: LOOPBACK, ...options }))
  onTestFinished(() => controller.close())
  const api = ownApi(controller, await adminToken(controller))
  const service = async (name: string) =>
    (await controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })).id
  const rename = (id: string, name: string) => controller.engine.services.patch(SYSTEM_CALL, id, { name })
  const webhook = async (url: string, more: object = {}) =>
    (
      await api.call('POST /webhooks', {
        body: { name: `to ${url}`, endpoint: url, filter: 'kind = "services"', ...more },
      })
    ).data.id
  const report = (id: string) => controller.engine.webhooks.deliveries(SYSTEM_CALL, id)
  return { controller, api, service, rename, webhook, report }
}

const namesOf = (stem: string, count: number) => Array.from({ length: count }, (_, at) => `${stem} ${at}`)

/** Lets time go by in steps, so that each attempt is answered before the next is due. */
async function pass(
  controller: TestController,
  milliseconds: number,
  until: () => boolean | Promise<boolean>,
  stepMs = 2000,
) {
  for (let gone = 0; gone < milliseconds && !(await until()); gone += stepMs) {
    await controller.elapse(stepMs)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('a webhook', () => {
  it('is told of what happens, signed as Standard Webhooks has it', async () => {
    const { received, url } = await receiver()
    const { api, service, webhook, report } = await scene()
    const id = await webhook(url)
    const { secret } = (await api.call('POST /webhooks/{id}/secret', { params: { id } })).data
    const web = await service('web')
    await vi.waitFor(() => expect(storyOf(received)).toEqual(['created web']))
    const [message] = received
    if (message === undefined) throw new Error('nothing arrived')
    expect(message.headers['content-type']).toBe('application/json')
    expect(message.headers['webhook-timestamp']).toBe(String(Date.UTC(2026, 0, 1) / 1000))
    expect(message.id).toBe(`msg_${message.event.data.id}`)
    expect(message.event).toMatchObject({
      type: 'entity.created',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { entity: { kind: 'services', id: web, name: 'web' }, changes: { name: { after: 'web' } } },
    })
    expect(String(message.headers['webhook-signature']).split(' ')[0]).toBe(signatureOf(message, secret))
    await vi.waitFor(async () =>
      expect(await report(id)).toMatchObject({ delivered: 1, failingSince: null, waitingCount: 0 }),
    )
  })

  it('hears of its own creation first, and of the types alone that it names', async () => {
    const { received, url } = await receiver()
    const { service, rename, webhook } = await scene()
    await webhook(url, { filter: null, events: ['entity.*'] })
    await webhook(url, { name: 'updates', events: ['entity.updated'] })
    await rename(await service('web'), 'wiki')
    await vi.waitFor(() => expect(storyOf(received)).toEqual(expect.arrayContaining(['created web', 'updated wiki'])))
    expect(received[0]?.event).toMatchObject({ type: 'entity.created', data: { entity: { kind: 'webhooks' } } })
    await vi.waitFor(() => expect(storyOf(received).filter((story) => story === 'updated wiki')).toHaveLength(2))
    expect(storyOf(received).filter((story) => story === 'created web')).toHaveLength(1)
  })

  it('is signed by the last four replaced secrets as well, each for a day: whoever lost an answer asks again', async () => {
    const { received, url } = await receiver()
    const { controller, api, service, webhook } = await scene()
    const id = await webhook(url)
    const rotate = async () => (await api.call('POST /webhooks/{id}/secret', { params: { id } })).data.secret
    const first = await rotate()
    controller.clock.advance(1000)
    const lost = await rotate()
    const second = await rotate()
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
    await service('web')
    await vi.waitFor(() => expect(received).toHaveLength(1))
    const [message] = received
    const signatures = String(message?.headers['webhook-signature']).split(' ')
    expect(signatures.slice(0, 3)).toEqual(
      [second, lost, first].map((secret) => message && signatureOf(message, secret)),
    )
    for (let more = 0; more < 4; more += 1) await rotate()
    const latest = await rotate()
    await service('wide')
    await vi.waitFor(() => expect(received).toHaveLength(2))
    expect(String(received[1]?.headers['webhook-signature']).split(' ')).toHaveLength(5)
    controller.clock.advance(DAY_MS + 1)
    await service('wiki')
    await vi.waitFor(() => expect(received).toHaveLength(3))
    const last = received.at(-1)
    expect(last?.headers['webhook-signature']).toBe(last && signatureOf(last, latest))
  })

  it('is told again of what failed, in order for one entity, while others go on', async () => {
    const target = await receiver(({ event }, response) => {
      response.writeHead(event.data.entity?.name === 'poor' ? 503 : 204).end()
    })
    const { controller, service, rename, webhook, report } = await scene()
    const id = await webhook(target.url)
    const poor = await service('poor')
    const rich = await service('rich')
    await vi.waitFor(() => expect(storyOf(target.received)).toEqual(['created poor', 'created rich']))
    await rename(poor, 'pour')
    await rename(rich, 'ritz')
    await vi.waitFor(() => expect(storyOf(target.received)).toContain('updated ritz'))
    expect(storyOf(target.received)).not.toContain('updated pour')
    expect(await report(id)).toMatchObject({
      waitingCount: 2,
      waiting: [{ attempts: 1, problem: 'answered 503' }, { attempts: 0 }],
    })
    target.answering = answer(204)
    await pass(controller, 20_000, () => storyOf(target.received).includes('updated pour'))
    const story = storyOf(target.received)
    expect(story.slice(story.lastIndexOf('created poor'))).toEqual(['created poor', 'updated pour'])
    const [first, ...again] = target.received.filter(({ event }) => event.data.entity?.name === 'poor')
    expect(new Set(again.map((message) => message.id))).toEqual(new Set([first?.id]))
    await vi.waitFor(async () => expect(await report(id)).toMatchObject({ waitingCount: 0, failingSince: null }))
  })

  it.each<[string, Parameters<typeof receiver>[0], string | RegExp]>([
    [
      'redirects',
      (_message, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'answered 302',
    ],
    ['hangs up', (_message, response) => response.destroy(), /hang up|reset/],
    ['speaks no HTTP', (_message, response) => response.socket?.end('SSH-2.0-x\r\n'), /Parse Error|Expected HTTP/],
  ])('counts a receiver that %s as one that failed', async (_name, answering, problem) => {
    const { url } = await receiver(answering)
    const { service, webhook, report } = await scene()
    const id = await webhook(url)
    await service('web')
    await vi.waitFor(async () => expect((await report(id)).problem ?? '').toMatch(problem))
    expect(await report(id)).toMatchObject({ delivered: 0, waitingCount: 1 })
  })

  it('reads nothing of an answer that never ends', async () => {
    const { received, url } = await receiver((_message, response) => {
      response.writeHead(200)
      response.write('x'.repeat(1024 * 1024))
      const flood = setInterval(() => response.write('x'.repeat(1024 * 1024)), 1)
      response.on('close', () => clearInterval(flood))
    })
    const { service, webhook, report } = await scene()
    const id = await webhook(url)
    await service('web')
    await vi.waitFor(async () => expect(await report(id)).toMatchObject({ delivered: 1, waitingCount: 0 }))
    expect(received).toHaveLength(1)
  })

  it('has dead letters after about three days, which are sent again or dropped', async () => {
    const target = await receiver(answer(500))
    const { controller, service, webhook, report } = await scene()
    const id = await webhook(target.url)
    await service('web')
    await service('wiki')
    const params = { id }
    let isDead = false
    for (let hour = 0; hour < 24 * 6 && !isDead; hour += 1) {
      await controller.elapse(3_600_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
      isDead = (await report(id)).deadCount === 2
    }
    expect(await report(id)).toMatchObject({ deadCount: 2, waitingCount: 0, dead: [{ attempts: 12, dueAt: null }, {}] })
    expect(target.received.length).toBe(24)
    // The session of before ended long ago.
    const api = ownApi(controller, await adminToken(controller))
    target.answering = answer(200)
    const [first] = (await report(id)).dead
    const again = await api.call('POST /webhooks/{id}/deliveries', { params, body: { events: [first?.event ?? ''] } })
    expect(again.data).toEqual({ count: 1 })
    await vi.waitFor(async () => expect(await report(id)).toMatchObject({ delivered: 1, deadCount: 1 }))
    expect((await api.call('DELETE /webhooks/{id}/deliveries', { params })).data).toEqual({ count: 1 })
    expect(await report(id)).toMatchObject({ deadCount: 0, failingSince: null })
  })

  it('that is down gets a trial once in a while, and everything in order once it answers', async () => {
    const target = await receiver(answer(500))
    const { controller, service, webhook, report } = await scene()
    const id = await webhook(target.url)
    const [early, late] = [namesOf('early', 10), namesOf('late', 30)]
    const names = [...early, ...late]
    for (const name of early) await service(name)
    // An event that comes while others are read is read a moment later, by the clock.
    await pass(controller, 1000, async () => (await report(id)).waitingCount === early.length, 10)
    for (const name of late) await service(name)
    await controller.elapse(3000)
    // How many are tried before the receiver counts as down is a matter of time: none of the late events is.
    expect(storyOf(target.received)).not.toHaveLength(0)
    expect(early.map((name) => `created ${name}`)).toEqual(
      expect.arrayContaining([...new Set(storyOf(target.received))]),
    )
    target.answering = answer(200)
    await pass(controller, 400_000, async () => (await report(id)).delivered === names.length)
    expect(new Set(storyOf(target.received))).toEqual(new Set(names.map((name) => `created ${name}`)))
    expect(await report(id)).toMatchObject({ delivered: names.length, waitingCount: 0, deadCount: 0 })
  })

  it('shows in the figures since when it fails, what waits and what was given up', async () => {
    const target = await receiver(answer(500))
    const { controller, service, webhook, report } = await scene({ probes: true })
    const figures = async () => {
      const text = await (await controller.fetch(new Request('https://controller.test/metrics'))).text()
      const of = (name: string) => Number(new RegExp(`^portcullis_webhooks_${name} (.*)$`, 'm').exec(text)?.[1])
      const [failing, seconds, waiting, dead] = [of('failing'), of('failing_time_seconds'), of('waiting'), of('dead')]
      return { failing, seconds, waiting, dead }
    }
    expect(await figures()).toEqual({ failing: 0, seconds: 0, waiting: 0, dead: 0 })
    const id = await webhook(target.url)
    await webhook((await receiver()).url)
    await service('web')
    await vi.waitFor(async () => expect((await report(id)).waitingCount).toBe(1))
    await controller.elapse(3000)
    expect(await figures()).toEqual({ failing: 1, seconds: 3, waiting: 1, dead: 0 })
    await pass(controller, 6 * DAY_MS, async () => (await report(id)).deadCount === 1, 3_600_000)
    expect(await figures()).toMatchObject({ failing: 1, waiting: 0, dead: 1 })
    target.answering = answer(204)
    await controller.engine.webhooks.resend(SYSTEM_CALL, id)
    await vi.waitFor(async () => expect(await figures()).toEqual({ failing: 0, seconds: 0, waiting: 0, dead: 0 }))
  })

  it('goes with everything that waits for it', async () => {
    const { url } = await receiver(answer(500))
    const { api, controller, service, webhook, report } = await scene()
    const id = await webhook(url)
    await service('web')
    await vi.waitFor(async () => expect((await report(id)).waitingCount).toBe(1))
    expect((await api.call('GET /webhooks/{id}/deliveries', { params: { id } })).data).toEqual(await report(id))
    await api.call('DELETE /webhooks/{id}', { params: { id } })
    await expect(report(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await controller.elapse(60_000)
  })
})

describe('a URL that others chose', () => {
  it.each([
    ['file:///etc/passwd', 'is not an https URL'],
    ['http://example.org/', 'is not an https URL'],
    ['https://user:word@example.org/', 'holds credentials'],
    ['https://127.0.0.1/', 'names an address that is not allowed'],
    ['https://[::1]/', 'names an address that is not allowed'],
    ['https://[::ffff:10.0.0.1]/', 'names an address that is not allowed'],
    ['https://169.254.169.254/latest/', 'names an address that is not allowed'],
    ['https://0x7f000001/', 'names an address that is not allowed'],
    ['nothing', 'is not a URL'],
  ])('is refused where it leads inward: %s', async (url, problem) => {
    const { webhook } = await scene({ webhooks: {} })
    await expect(webhook(url)).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field: 'endpoint', reason: `endpoint ${problem}` },
    })
  })

  it('never leads to a link-local address, whatever is allowed', async () => {
    const { webhook } = await scene({ webhooks: { allow: ['0.0.0.0/0', '::/0'] } })
    await expect(webhook('http://169.254.169.254/')).rejects.toMatchObject({ details: { field: 'endpoint' } })
  })

  it('is judged by the addresses that its name has when the connection is made', async () => {
    const { service, webhook, report } = await scene({ webhooks: {} })
    const id = await webhook('https://localhost:1/')
    await service('web')
    await vi.waitFor(async () => expect((await report(id)).problem).toMatch(/not allowed/))
  })

  it('is named where it is refused, as a type of events is that there is not', async () => {
    const { webhook } = await scene()
    const refused = webhook('https://example.org/', { events: ['entity.renamed'] })
    await expect(refused).rejects.toMatchObject({ details: { field: 'events' } })
    await expect(webhook('https://example.org/', { filter: 'colour = 1' })).rejects.toThrow('INVALID_FILTER')
  })
})

describe('webhooks', () => {
  it('are for administrators alone', async () => {
    const { controller, webhook } = await scene()
    const id = await webhook('https://example.org/')
    const { api } = await delegate(controller, 'ann', ['service', 'ops', 'identity.read'])
    await expect(api.call('GET /webhooks')).rejects.toThrow('UNAUTHORIZED')
    await expect(api.call('POST /webhooks/{id}/secret', { params: { id } })).rejects.toThrow('UNAUTHORIZED')
    await expect(api.call('GET /webhooks/{id}/deliveries', { params: { id } })).rejects.toThrow('UNAUTHORIZED')
  })

  it('show no secret, and the trail tells a digest of it', async () => {
    const { api, webhook } = await scene()
    const id = await webhook('https://example.org/')
    const { secret } = (await api.call('POST /webhooks/{id}/secret', { params: { id } })).data
    const shown = JSON.stringify((await api.call('GET /webhooks/{id}', { params: { id } })).data)
    const told = JSON.stringify((await api.call('GET /audit', { query: { entity: id } })).data)
    expect(shown + told).not.toContain(secret)
    expect(shown).not.toContain('ealed')
    expect(told).toContain('sealedSecret":{"before":"sha256:')
  })

  it('are told by one of several processes over a store, and by the other when it is gone', async () => {
    const { received, url } = await receiver()
    const storage = memoryStorage()
    const one = await scene({ storage })
    const other = await createTestController(await withSharedPki({ storage, webhooks: LOOPBACK, seed: 2 }))
    onTestFinished(() => other.close())
    await one.webhook(url)
    for (let at = 0; at < 10; at += 1) {
      await one.service(`a${at}`)
      await other.engine.services.create(SYSTEM_CALL, { name: `b${at}`, encryptionRequired: true })
    }
    await pass(one.controller, 300_000, () => received.length >= 20)
    expect(new Set(received.map((message) => message.id)).size).toBe(20)
    expect(received).toHaveLength(20)
    await one.controller.close()
    await other.engine.services.create(SYSTEM_CALL, { name: 'last', encryptionRequired: true }).catch(() => undefined)
  })
})

describe('a subscriber of the host', () => {
  it('is told in order, again after a failure, and from where it stopped', async () => {
    const storage = memoryStorage()
    const { controller, service, rename } = await scene({ storage })
    const heard: string[] = []
    let isWell = false
    const handler = ({ type, data }: { type: string; data: { entity: { name: string | null } | null } }) => {
      if (!isWell) throw new Error('not now')
      heard.push(`${type} ${data.entity?.name}`)
    }
    const stop = await controller.events.subscribe('tickets', handler, { filter: 'kind = "services"' })
    await expect(controller.events.subscribe('tickets', handler)).rejects.toThrow('already')
    const id = await service('web')
    await rename(id, 'wiki')
    isWell = true
    await pass(controller, 20_000, () => heard.length === 2)
    expect(heard).toEqual(['entity.created web', 'entity.updated wiki'])
    stop()
    await service('later')
    await controller.events.subscribe('tickets', handler, { filter: 'kind = "services"' })
    await vi.waitFor(() => expect(heard.at(-1)).toBe('entity.created later'))
  })
})
