import { SYSTEM_CALL } from 'portcullis'
import { createTestController, type TestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AuditRequest } from '../../src/audit/audit-questions.resource.ts'
import { auditRecords, auditSeals } from '../../src/audit/audit-record.resource.ts'
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { givePassword } from '../support/identity-state.ts'

async function scene(options: TestControllerOptions = {}) {
  const controller = await createTestController(options)
  onTestFinished(() => controller.close())
  const token = await adminToken(controller)
  const api = ownApi(controller, token)
  const { audit } = engineOf(controller.engine)
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
      { type: 'login.refused', entity: { id }, reason: 'wrong password', remoteAddress: '192.0.2.7' },
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

it('keeps what strangers cause within their bytes, and tells how much it left out', async () => {
  const controller = await createTestController({
    audit: { strangerBytesPerHour: 4096 },
    rateLimits: false,
    allowUnlimitedLogins: true,
  } as TestControllerOptions)
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
