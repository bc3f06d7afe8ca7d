import { type AuditRequest, openOperator, SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { givePassword } from '../support/identity-state.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { auditRecords, auditSeals, auditStates } from '../support/stored-records.ts'

async function scene(options: TestControllerOptions = {}) {
  const controller = await createTestController(await withSharedPki(options))
  onTestFinished(() => controller.close())
  const token = await adminToken(controller)
  const api = ownApi(controller, token)
  const operator = await openOperator({ storage: controller.storage })
  const audit = {
    head: async () => (await api.call('GET /audit/head')).data,
    verify: operator.verifyAudit,
  }
  const read = async (query: AuditRequest = {}) => (await api.call('GET /audit', { query })).data
  return { controller, token, api, audit, read }
}

describe('the audit trail', () => {
  it('tells who created, changed and deleted an entity, field by field', async () => {
    const { controller, read } = await scene()
    const { data } = await controller.admin.call('POST /services', {
      body: { name: 'payroll', encryptionRequired: true },
    })
    await controller.admin.call('PATCH /services/{id}', {
      params: { id: data.id },
      body: { roleAttributes: ['b', 'a'] },
    })
    await controller.admin.call('DELETE /services/{id}', { params: { id: data.id } })
    const { entries } = await read({ entity: data.id })
    expect(entries.map(({ type }) => type)).toEqual(['entity.deleted', 'entity.updated', 'entity.created'])
    const [deleted, updated, created] = entries
    expect(updated).toMatchObject({
      entity: { kind: 'services', id: data.id, name: 'payroll' },
      actor: { name: 'Default Admin' },
      author: { by: 'caller', method: 'password', name: 'Default Admin' },
      changes: { roleAttributes: { after: ['a', 'b'] } },
    })
    expect(updated?.author?.authenticatorId).toBeTruthy()
    expect(updated?.requestId).toBeTruthy()
    expect(Object.keys(updated?.changes ?? {})).toEqual(['roleAttributes'])
    expect(created?.changes).toMatchObject({ name: { after: 'payroll' } })
    expect(deleted?.changes).toMatchObject({ name: { before: 'payroll' } })
  })

  it('tells logins with their proof and address, refused ones with why, and enrollments', async () => {
    const { controller, read } = await scene()
    const { id } = await controller.engine.identities.create(SYSTEM_CALL, { name: 'ann', type: 'User', isAdmin: false })
    await givePassword(controller, id, { username: 'user-ann', password: 'Correct-Horse-1' })
    const client = controller.client({ remoteAddress: '192.0.2.7' })
    const login = (password: string) =>
      client.call('POST /authenticate', { query: { method: 'password' }, body: { username: 'user-ann', password } })
    await login('Correct-Horse-1')
    await expect(login('wrong-password')).rejects.toThrow()
    const { entries } = await read({ filter: 'type in ["login.succeeded", "login.refused"]', limit: 2 })
    expect(entries).toMatchObject([
      {
        type: 'login.refused',
        entity: { id },
        reason: 'wrong password',
        remoteAddress: '192.0.2.7',
        requestId: expect.stringMatching(/./),
      },
      {
        type: 'login.succeeded',
        actor: { id, name: 'ann' },
        author: { method: 'password' },
        remoteAddress: '192.0.2.7',
      },
    ])
  })

  it('names the first record that was altered, removed or added, and the first seal', async () => {
    const { controller, audit } = await scene()
    for (const name of ['a', 'b', 'c'])
      await controller.admin.call('POST /services', { body: { name, encryptionRequired: true } })
    expect(await audit.head()).toMatchObject({ number: 1, removed: 0 })
    const whole = await audit.verify()
    expect(whole).toMatchObject({ isWhole: true, tampering: null, unsealed: 0 })
    const ids = await controller.storage.read((tx) => tx.collection(auditRecords).findIds())
    const victim = ids[3] ?? expect.fail()
    const original = await controller.storage.read((tx) => tx.collection(auditRecords).get(victim))
    if (original === undefined) return expect.fail()
    await controller.storage.write((tx) => tx.collection(auditRecords).update({ ...original, actorId: 'somebody' }))
    expect((await audit.verify()).tampering).toEqual({ what: 'record-altered', record: victim, seal: 1 })
    await controller.storage.write((tx) => tx.collection(auditRecords).delete(victim))
    expect((await audit.verify()).tampering).toEqual({ what: 'record-removed', record: victim, seal: 1 })
    await controller.storage.write(async (tx) => {
      await tx.collection(auditRecords).insert(original)
      await tx.collection(auditRecords).insert({ ...original, id: `${victim}0` })
    })
    expect((await audit.verify()).tampering).toEqual({ what: 'record-added', record: `${victim}0`, seal: null })
    await controller.storage.write((tx) => tx.collection(auditRecords).delete(`${victim}0`))
    expect((await audit.verify()).isWhole).toBe(true)
    expect((await audit.verify({ number: 1, hash: 'f'.repeat(64) })).tampering).toMatchObject({ what: 'other-chain' })
    expect((await audit.verify({ number: 2, hash: '' })).tampering).toMatchObject({ what: 'chain-cut' })
    const [seal] = await controller.storage.read(async (tx) => (await tx.collection(auditSeals).find()).items)
    if (seal === undefined) return expect.fail()
    await controller.storage.write((tx) =>
      tx.collection(auditSeals).update({ ...seal, records: seal.records.slice(1) }),
    )
    expect((await audit.verify()).tampering).toEqual({ what: 'seal-altered', record: null, seal: 1 })
  })

  it('tells a delegate of the kinds that it may read, without addresses and proofs', async () => {
    const { controller, read } = await scene()
    const { data: service } = await controller.admin.call('POST /services', {
      body: { name: 'web', encryptionRequired: true },
    })
    const { data: config } = await controller.admin.call('POST /config-types', { body: { name: 'own' } })
    const reader = await delegate(controller, 'auditor', ['service.read'])
    const { data } = await reader.api.call('GET /audit', { query: {} })
    expect(data.entries.map(({ entity }) => entity?.kind)).toEqual(['services'])
    expect(data.entries[0]).toMatchObject({
      entity: { id: service.id },
      author: null,
      remoteAddress: null,
      requestId: null,
      facts: {},
    })
    expect(data.entries[0]?.actor?.name).toBeNull()
    expect((await reader.api.call('GET /audit', { query: { entity: config.id } })).data.entries).toEqual([])
    expect((await read({ entity: config.id })).entries).toHaveLength(1)
    const plain = await delegate(controller, 'plain', [])
    await expect(plain.api.call('GET /audit', { query: {} })).rejects.toMatchObject({ status: 401 })
    await expect(reader.api.call('GET /audit/head')).rejects.toMatchObject({ status: 401 })
    const { entries } = await read({ filter: 'type = "request.refused"' })
    expect(entries).toMatchObject([
      { actor: { name: 'auditor' }, facts: { operation: 'portcullis GET /audit/head' } },
      { actor: { name: 'plain' }, facts: { operation: 'portcullis GET /audit' } },
    ])
  })
})

it('tells whom a posture check kept from a service', async () => {
  const { controller, read } = await scene()
  const { engine } = controller
  const { id: serviceId } = await engine.services.create(SYSTEM_CALL, { name: 'payroll', encryptionRequired: true })
  const check = {
    typeId: 'OS',
    name: 'windows',
    roleAttributes: ['os'],
    operatingSystems: [{ type: 'Windows' }],
  } as const
  await engine.postureChecks.create(SYSTEM_CALL, check)
  await engine.servicePolicies.create(SYSTEM_CALL, {
    name: 'dial',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    serviceRoles: ['#all'],
    postureCheckRoles: ['#os'],
  })
  const { id, token } = await delegate(controller, 'ann', [])
  const dial = new Request('https://controller.test/edge/client/v1/sessions', {
    method: 'POST',
    headers: { 'zt-session': token, 'content-type': 'application/json' },
    body: JSON.stringify({ serviceId, type: 'Dial' }),
  })
  expect((await controller.fetch(dial)).status).toBe(409)
  const { entries } = await read({ filter: 'type = "service.refused"' })
  expect(entries).toMatchObject([{ entity: { id: serviceId }, actor: { id }, facts: { access: 'Dial' } }])
})

describe('the audit trail as a stream', () => {
  /** The trail in a form: the text so far, and waiting for more. */
  async function told(controller: TestController, token: string, accept: string, query = '', lastId?: string) {
    const headers = { 'zt-session': token, accept, ...(lastId !== undefined && { 'last-event-id': lastId }) }
    const response = await controller.fetch(
      new Request(`https://controller.test/portcullis/v1/audit${query}`, { headers }),
    )
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
    return {
      response,
      async until(part: string) {
        while (!isOver && !text.includes(part)) await read()
        expect(text).toContain(part)
      },
      async whole() {
        while (!isOver) await read()
        return text
      },
      text: () => text,
    }
  }
  const create = (controller: TestController, name: string) =>
    controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })

  it('is exported as JSON lines, every record that the caller may read, the earliest first', async () => {
    const { controller, token, read } = await scene()
    for (let count = 0; count < 450; count += 1) await create(controller, `service ${count}`)
    const { response, whole } = await told(controller, token, 'application/jsonl', '?filter=kind%3D%22services%22')
    expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8')
    const lines = (await whole()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).entity.name)).toEqual(
      Array.from({ length: 450 }, (_, at) => `service ${at}`),
    )
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual((await read({ filter: 'kind="services"', limit: 1 })).entries[0])
    const later = await told(controller, token, 'application/jsonl', `?after=${JSON.parse(lines[447] ?? '').id}`)
    expect((await later.whole()).trimEnd().split('\n')).toEqual(lines.slice(448))
    const reader = await delegate(controller, 'auditor', ['config.read'])
    expect(await (await told(controller, reader.token, 'application/jsonl')).whole()).toBe('')
  })

  it('tells each record as it is written, from a place on, until the reader loses its rights', async () => {
    const { controller, token } = await scene()
    const before = await create(controller, 'before')
    const reader = await delegate(controller, 'auditor', ['service.read'])
    const stream = await told(controller, reader.token, 'text/event-stream')
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    await create(controller, 'web')
    const heard = stream.until('"name":"web"')
    await controller.elapse(1100)
    await heard
    expect(stream.text()).toMatch(/^retry: 3000\n\nid: [0-9]+\nevent: entity.created\ndata: \{.*\}\n\n$/)
    expect(stream.text()).not.toContain(before.id)
    const again = await told(controller, token, 'text/event-stream', '', /id: ([0-9]+)/.exec(stream.text())?.[1])
    await controller.engine.services.patch(SYSTEM_CALL, before.id, { name: 'after' })
    const rest = again.until('"after":"after"')
    await controller.elapse(1100)
    await rest
    expect(again.text()).not.toContain('"name":"web"')
    await controller.engine.identities.patch(SYSTEM_CALL, reader.id, { permissions: [] })
    const end = stream.whole()
    await controller.elapse(1100)
    await end
  })

  it('has its place among the streams of an identity, and refuses a filter that cannot be read', async () => {
    const { controller, token } = await scene({ limits: { eventStreamsPerIdentity: 1 } })
    const first = await told(controller, token, 'text/event-stream')
    await told(controller, token, 'text/event-stream')
    expect(await first.whole()).toBe('retry: 3000\n\n')
    const { response } = await told(controller, token, 'application/jsonl', '?filter=nonsense')
    expect(response.status).toBe(400)
  })
})

it('keeps what strangers cause within their bytes, and tells how much it left out', async () => {
  const controller = await createTestController(
    await withSharedPki({
      audit: { strangerBytesPerHour: 4096 },
      rateLimits: false,
      allowUnlimitedLogins: true,
    } as TestControllerOptions),
  )
  onTestFinished(() => controller.close())
  const client = controller.client({ remoteAddress: '192.0.2.9' })
  const guess = (at: number) =>
    client
      .call('POST /authenticate', {
        query: { method: 'password' },
        body: { username: `guess-${at}`, password: 'guess-1' },
      })
      .catch(() => undefined)
  for (let at = 0; at < 40; at += 1) await guess(at)
  await controller.elapse(1100)
  const bytesOf = async () => {
    const { items } = await controller.storage.read((tx) => tx.collection(auditRecords).find())
    return {
      refused: items.filter(({ type }) => type === 'login.refused'),
      left: items.filter(({ type }) => type === 'audit.left-out'),
    }
  }
  const { refused, left } = await bytesOf()
  expect(JSON.stringify(refused.map(({ content }) => content)).length).toBeLessThan(4096)
  expect(refused.length).toBeLessThan(40)
  expect(left).toHaveLength(1)
  expect(left[0]?.content.facts).toMatchObject({ count: 40 - refused.length })
})

it('removes what is too old, and the chain still holds', async () => {
  const { controller, audit } = await scene({ audit: { keepMs: 60_000 } })
  const service = (name: string) => controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })
  for (let at = 0; at < 5; at += 1) {
    await service(`s${at}`)
    await controller.elapse(30_000)
  }
  const head = await audit.head()
  expect(head.removed).toBeGreaterThan(0)
  expect(await audit.verify()).toMatchObject({ isWhole: true, removed: head.removed })
})

it('removes the oldest beyond its bytes, and tells up to where', async () => {
  const { controller, audit } = await scene({ audit: { mostBytes: 20_000 } })
  for (let at = 0; at < 60; at += 1) {
    await controller.engine.services.create(SYSTEM_CALL, { name: `service ${at}`, encryptionRequired: true })
    await controller.elapse(1100)
  }
  const head = await audit.head()
  expect(head.removed).toBeGreaterThan(10)
  expect(head.records).toBeGreaterThan(10)
  const [state] = (await controller.storage.read((tx) => tx.collection(auditStates).find())).items
  // One seal may be beyond: it goes with the next.
  expect(state?.bytes).toBeLessThan(22_000)
  const kept = await controller.storage.read((tx) => tx.collection(auditRecords).findIds())
  expect(state?.removedTo && kept.every((id) => id > (state.removedTo ?? ''))).toBe(true)
  expect(await audit.verify()).toMatchObject({ isWhole: true, removed: head.removed })
})

it('shows no secret anywhere', async () => {
  const { controller } = await scene()
  const made = async (controller: TestController) => {
    const { id } = await controller.engine.identities.create(SYSTEM_CALL, {
      name: 'ann',
      type: 'User',
      isAdmin: false,
      enrollment: { ott: true },
    })
    return id
  }
  await made(controller)
  await delegate(controller, 'eve', ['service'])
  const { items } = await controller.storage.read((tx) => tx.collection(auditRecords).find())
  const text = JSON.stringify(items)
  const enrollment = items.find(({ kind }) => kind === 'enrollments')
  expect(JSON.stringify(enrollment?.content.changes)).toMatch(/"token":\{"after":"sha256:[0-9a-f]{32}"\}/)
  expect(text).not.toMatch(/eyJ[A-Za-z0-9_-]{10,}|\$argon2|Correct-Horse/)
})

describe('many logins', () => {
  const many = async (permissions: readonly string[], count: number, inner = memoryStorage()) => {
    const audit = { endpointBytesPerHour: 20_000 }
    // The test reads it after the end of the controller.
    const storage = { ...inner, close: async () => undefined }
    const controller = await createTestController(await withSharedPki({ audit, rateLimits: false, storage }))
    const { id } = await controller.engine.identities.create(SYSTEM_CALL, {
      name: 'robot',
      type: 'User',
      isAdmin: false,
      permissions: [...permissions],
    })
    const body = { username: 'user-robot', password: 'Correct-Horse-1' }
    await givePassword(controller, id, body)
    for (let at = 0; at < count; at += 1) {
      await controller.client().call('POST /authenticate', { query: { method: 'password' }, body })
    }
    const records = async (type: string) => {
      const { items } = await storage.read((tx) => tx.collection(auditRecords).find())
      return items.filter((one) => one.type === type)
    }
    const logins = async () => {
      const found = await records('login.succeeded')
      const counts = found.flatMap(({ content }) =>
        typeof content.facts?.count === 'number' ? content.facts.count : [],
      )
      return { whole: found.length - counts.length, folded: counts.reduce((sum, one) => sum + one, 0), counts }
    }
    return { controller, id, records, logins }
  }

  it('of somebody with rights are each told, or together in one record with a count, within a minute', async () => {
    const { controller, id, logins, records } = await many(['service'], 60)
    onTestFinished(() => controller.close())
    await controller.elapse(60_000)
    const { whole, folded, counts } = await logins()
    expect(whole).toBeGreaterThan(5)
    expect(whole + folded).toBe(60)
    // The first ones are told with the next seal, the others within the minute.
    expect(counts.length).toBeLessThan(4)
    const [fold] = (await records('login.succeeded')).filter(({ content }) => content.facts?.count !== undefined)
    expect(fold).toMatchObject({ actorId: id, entityId: null, content: { author: { method: 'password' } } })
    expect(await records('audit.left-out')).toEqual([])
  })

  it('are told at the end as well', async () => {
    const { controller, logins } = await many(['service'], 60)
    await controller.elapse(2000)
    const body = { username: 'user-robot', password: 'Correct-Horse-1' }
    await controller.client().call('POST /authenticate', { query: { method: 'password' }, body })
    await controller.close()
    const { whole, folded } = await logins()
    expect(whole + folded).toBe(61)
  })

  it('of many without rights share their bytes: no login pushes a change out, and no device hides another', async () => {
    const audit = { useBytesPerHour: 20_000 }
    const controller = await createTestController(await withSharedPki({ audit, rateLimits: false }))
    onTestFinished(() => controller.close())
    const devices = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const name = `device ${at}`
        const { id } = await controller.engine.identities.create(SYSTEM_CALL, { name, type: 'Device', isAdmin: false })
        const body = { username: name, password: 'Correct-Horse-1' }
        await givePassword(controller, id, body)
        return { id, body }
      }),
    )
    const logins = async (): Promise<readonly string[]> => {
      const { items } = await controller.storage.read((tx) => tx.collection(auditRecords).find())
      return items.flatMap(({ type, actorId }) => (type === 'login.succeeded' && actorId !== null ? [actorId] : []))
    }
    const counted: number[] = []
    for (let hour = 0; hour < 5; hour += 1) {
      for (const { body } of [...devices, ...devices]) {
        await controller.client().call('POST /authenticate', { query: { method: 'password' }, body })
      }
      await controller.elapse(3_600_000)
      counted.push((await logins()).length)
    }
    // Each device has the first logins in the trail, and later ones as its share allows.
    expect(new Set(await logins()).size).toBe(40)
    expect((counted.at(-1) ?? 0) - (counted[1] ?? 0)).toBeLessThan((3 * 20_000) / 200)
  })

  it.each([[], ['service']])(
    'cost their bytes once, however often the storage runs their write (rights: %s)',
    async (...permissions) => {
      const inner = memoryStorage()
      /** Runs each write three times, and keeps the last one, as after conflicts with other processes. */
      const again: typeof inner.write = async (work) => {
        for (let conflicts = 0; conflicts < 2; conflicts += 1) {
          const conflict = new Error('another process wrote first')
          await inner
            .write(async (tx) => {
              await work(tx)
              throw conflict
            })
            .catch((error: unknown) => {
              if (error !== conflict) throw error
            })
        }
        return inner.write(work)
      }
      const counts: { whole: number; folded: number }[] = []
      for (const storage of [memoryStorage(), { ...inner, write: again }]) {
        const { controller, logins } = await many(permissions, 60, storage)
        await controller.close()
        const { whole, folded } = await logins()
        counts.push({ whole, folded })
      }
      expect(counts[1]).toEqual(counts[0])
    },
  )

  it('of somebody without rights are counted beyond their bytes, and the count is told at the end', async () => {
    const { controller, id, logins, records } = await many([], 60)
    await controller.close()
    const { whole, folded } = await logins()
    const left = await records('audit.left-out')
    const parties = left.flatMap(({ content }) => content.facts?.parties as { party: string; count: number }[])
    const count = parties.reduce((sum, one) => sum + (one.party === `api-sessions ${id}` ? one.count : 0), 0)
    expect(folded).toBe(0)
    expect(whole + count).toBe(60)
  })
})
