import { SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, delegate } from '../support/delegate.ts'
import { network } from '../support/network.ts'
import { authPolicy } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** A stream as a page reads it: what was told so far, and waiting for more. */
async function listen(controller: TestController, token: string, headers: Record<string, string> = {}) {
  const request = new Request('https://controller.test/portcullis/v1/events', {
    headers: { 'zt-session': token, accept: 'text/event-stream', ...headers },
  })
  const response = await controller.fetch(request)
  const reader = response.body?.getReader() ?? expect.fail()
  onTestFinished(() => void reader.cancel().catch(() => undefined))
  const decoder = new TextDecoder()
  let text = ''
  let isOver = false
  const read = async () => {
    const { done, value } = await reader.read()
    if (done) isOver = true
    else text += decoder.decode(value)
  }
  const until = async (part: string | RegExp) => {
    while (!isOver && text.search(part) < 0) await read()
    expect(text).toMatch(part)
  }
  const ended = async () => {
    while (!isOver) await read()
  }
  return { response, until, ended, cancel: () => reader.cancel(), text: () => text }
}

/** Asks for a stream of which nobody reads. */
async function opened(controller: TestController, token: string): Promise<Response> {
  const headers = { 'zt-session': token, accept: 'text/event-stream' }
  return controller.fetch(new Request('https://controller.test/portcullis/v1/events', { headers }))
}

function service(controller: TestController, name: string) {
  return controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })
}

describe('GET /events as a timeline', () => {
  it('tells what happened, oldest first, with names and a sentence', async () => {
    const { controller, api } = await network()
    const before = (await api.call('GET /events')).data
    const { id } = await service(controller, 'payroll')
    const { data } = await api.call('GET /events', { query: { after: before.next } })
    expect(data.events).toMatchObject([
      { type: 'entity.changed', facts: { operation: 'insert', kind: 'services', id }, at: '2026-01-01T00:00:00.000Z' },
    ])
    expect(data.events[0]?.text).toBe('the controller created service payroll')
    expect((await api.call('GET /events', { query: { after: data.next } })).data.events).toEqual([])
  })

  it('comes in pages, and says what is forgotten', async () => {
    const { controller, api } = await network({ limits: { timelineBytes: 4000 } })
    const { next } = (await api.call('GET /events')).data
    for (const name of ['a', 'b', 'c']) await service(controller, name)
    const page = (await api.call('GET /events', { query: { after: next, limit: '2' } })).data
    expect(page.events).toHaveLength(2)
    const rest = (await api.call('GET /events', { query: { after: page.next, limit: '2' } })).data
    expect(rest.events).toHaveLength(1)
    for (let i = 0; i < 40; i += 1) await service(controller, `s${i}`)
    const late = (await api.call('GET /events', { query: { after: next } })).data
    expect(late.isCut).toBe(true)
    expect(late.events.length).toBeLessThan(20)
    const strange = (await api.call('GET /events', { query: { after: 'another.7' } })).data
    expect(strange.isCut).toBe(true)
  })

  it('tells a delegate of what it may read, and names nothing else', async () => {
    const { controller, api } = await network()
    const mallory = await delegate(controller, 'mallory', ['service.read'])
    await service(controller, 'payroll')
    await controller.engine.identities.create(SYSTEM_CALL, { name: 'secret', type: 'User', isAdmin: false })
    const heard = (await mallory.api.call('GET /events')).data.events
    expect(heard.map(({ facts }) => facts.kind)).toEqual(['services'])
    const all = (await api.call('GET /events')).data.events
    expect(all.map(({ type }) => type)).toContain('authentication.attempted')
    expect(JSON.stringify(all)).not.toMatch(/Correct-Horse|admin-password|remoteAddress|ipAddress":"\d/)
    const plain = await delegate(controller, 'plain', [])
    await expect(plain.api.call('GET /events')).rejects.toMatchObject({ status: 401 })
  })

  it('tells of refused access', async () => {
    const { controller, api } = await network()
    const { id: serviceId } = await service(controller, 'vault')
    const check = { typeId: 'MFA' as const, name: 'second factor', roleAttributes: ['strict'] }
    await controller.engine.postureChecks.create(SYSTEM_CALL, check)
    await controller.engine.servicePolicies.create(SYSTEM_CALL, {
      name: 'strictly',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#all'],
      serviceRoles: ['#all'],
      postureCheckRoles: ['#strict'],
    })
    const device = await delegate(controller, 'laptop', [])
    const { next } = (await api.call('GET /events')).data
    const session = await controller.fetch(
      new Request('https://controller.test/edge/client/v1/sessions', {
        method: 'POST',
        headers: { 'zt-session': device.token, 'content-type': 'application/json' },
        body: JSON.stringify({ serviceId, type: 'Dial' }),
      }),
    )
    expect(session.status).toBe(409)
    const { events } = (await api.call('GET /events', { query: { after: next } })).data
    expect(events.find(({ type }) => type === 'service.refused')).toMatchObject({
      identity: { name: 'laptop' },
      service: { name: 'vault' },
      facts: { access: 'Dial' },
      text: 'laptop was refused Dial of vault',
    })
  })
})

describe('GET /events as a stream', () => {
  it('tells each event as it happens, in a form that nobody keeps or takes for anything else', async () => {
    const { controller, token } = await network()
    const stream = await listen(controller, token)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.response.headers.get('cache-control')).toBe('no-store')
    expect(stream.response.headers.get('x-content-type-options')).toBe('nosniff')
    await service(controller, '<script>alert(1)</script>\n\ndata: x')
    await stream.until(/event: entity\.changed\ndata: \{.*"kind":"services".*\}\n\n/)
  })

  it('goes on after the event that a reader saw last', async () => {
    const { controller, token, api } = await network()
    await service(controller, 'one')
    const { events } = (await api.call('GET /events')).data
    await service(controller, 'two')
    const last = events.at(-1)?.id ?? ''
    const stream = await listen(controller, token, { 'last-event-id': last })
    await stream.until(/"kind":"services"/)
    expect(stream.text().match(/^id: /gm)).toHaveLength(1)
    const other = await listen(controller, token, { 'last-event-id': 'of-another.4' })
    await other.until(/"kind":"services"/)
  })

  it('says that it is alive, and ends with the API session of its reader', async () => {
    const { controller, token } = await network()
    const mallory = await delegate(controller, 'mallory', ['service.read'])
    const stream = await listen(controller, mallory.token)
    await controller.elapse(15_000)
    await stream.until(': alive')
    const other = await listen(controller, token)
    const found = await controller.fetch(
      new Request('https://controller.test/edge/client/v1/current-api-session', {
        method: 'DELETE',
        headers: { 'zt-session': mallory.token },
      }),
    )
    expect(found.ok).toBe(true)
    await stream.ended()
    await service(controller, 'still told')
    await other.until(/"kind":"services"/)
  })

  it('tells nothing more of what its reader may not read any more, and ends without any right', async () => {
    const { controller } = await network()
    const mallory = await delegate(controller, 'mallory', ['service.read', 'identity.read'])
    const stream = await listen(controller, mallory.token)
    await service(controller, 'first')
    await stream.until(/"kind":"services"/)
    await controller.engine.identities.patch(SYSTEM_CALL, mallory.id, { permissions: ['identity.read'] })
    await service(controller, 'second')
    await controller.engine.identities.patch(SYSTEM_CALL, mallory.id, { tags: { seen: true } })
    await controller.elapse(15_000)
    await stream.until(': alive')
    expect(stream.text().match(/"kind":"services"/g)).toHaveLength(1)
    await controller.engine.identities.patch(SYSTEM_CALL, mallory.id, { permissions: [] })
    await stream.ended()
  })

  it('ends within two seconds of the loss of rights, whichever process took them', async () => {
    const storage = { ...memoryStorage(), close: async () => undefined }
    const { controller: other } = await network({ storage })
    const { controller } = await network({ storage })
    const losses: readonly ((id: string) => Promise<unknown>)[] = [
      (id) => other.engine.identities.patch(SYSTEM_CALL, id, { permissions: [] }),
      (id) => other.engine.identities.disable(SYSTEM_CALL, id, { durationMinutes: 0 }),
      async (id) => {
        const policy = authPolicy(id, {}, { requireTotp: true })
        const { id: authPolicyId } = await other.engine.authPolicies.create(SYSTEM_CALL, policy)
        return other.engine.identities.patch(SYSTEM_CALL, id, { authPolicyId })
      },
    ]
    for (const [position, lose] of losses.entries()) {
      const reader = await delegate(other, `reader-${position}`, ['service.read'])
      const stream = await listen(controller, reader.token)
      await service(controller, `before-${position}`)
      await stream.until(/"kind":"services"/)
      await lose(reader.id)
      await controller.elapse(2000)
      await service(controller, `after-${position}`)
      await stream.ended()
      expect(stream.text()).not.toContain(`after-${position}`)
    }
  })

  it('is bounded: of an identity the oldest ends, of all a further one is refused', async () => {
    const { controller, token } = await network({ limits: { eventStreams: 3, eventStreamsPerIdentity: 2 } })
    const mallory = await delegate(controller, 'mallory', ['service.read'])
    const first = await listen(controller, mallory.token)
    await listen(controller, mallory.token)
    await listen(controller, mallory.token)
    await first.ended()
    const other = await delegate(controller, 'other', ['service.read'])
    const own = await listen(controller, other.token)
    expect((await opened(controller, other.token)).status).toBe(429)
    expect(Number((await opened(controller, other.token)).headers.get('retry-after'))).toBeGreaterThan(0)
    await own.cancel()
    expect((await listen(controller, token)).response.status).toBe(200)
  })

  it('has a place for administrators and for each delegate, however many delegates hold all of them', async () => {
    const { controller, token } = await network({ limits: { eventStreams: 6, eventStreamsPerIdentity: 3 } })
    const [one, two] = [
      await delegate(controller, 'one', ['service.read']),
      await delegate(controller, 'two', ['service.read']),
    ]
    const first = await listen(controller, one.token)
    for (const who of [one, one, two, two, two]) await listen(controller, who.token)
    const late = await delegate(controller, 'late', ['service.read'])
    expect((await listen(controller, late.token)).response.status).toBe(200)
    await first.ended()
    const mine = []
    for (let n = 0; n < 3; n += 1) mine.push(await listen(controller, token))
    // Nobody has more than two now but the administrator, whose places no delegate takes.
    expect((await opened(controller, one.token)).status).toBe(429)
    await service(controller, 'payroll')
    for (const stream of mine) await stream.until('created service payroll')
  })

  it('costs nothing while its reader does not read, and says what it missed', async () => {
    const { controller, token } = await network({ limits: { timelineBytes: 4000 } })
    const stream = await listen(controller, token)
    for (let i = 0; i < 60; i += 1) await service(controller, `s${i}`)
    await stream.until('event: cut')
    expect((stream.text().match(/^id: /gm) ?? []).length).toBeLessThan(40)
  })

  it('ends when the controller closes', async () => {
    const controller = await createTestController(await withSharedPki())
    const stream = await listen(controller, await adminToken(controller))
    await controller.close()
    await stream.ended()
  })
})
