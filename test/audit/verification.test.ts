import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openOperator, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'
import { auditRecords, auditSeals, auditStates } from '../support/stored-records.ts'

async function scene(options: TestControllerOptions = {}) {
  const controller = await createTestController(await withSharedPki(options))
  onTestFinished(() => controller.close())
  const operator = await openOperator({ storage: controller.storage })
  let count = 0
  /** Changes something, and waits until it is sealed. */
  const change = async () => {
    count += 1
    await controller.engine.services.create(SYSTEM_CALL, { name: `service ${count}`, encryptionRequired: true })
    await controller.elapse(1100)
  }
  const state = () => controller.storage.read((tx) => tx.collection(auditStates).get('chain'))
  const head = async () => {
    const { seals = 0, hash = '' } = (await state()) ?? {}
    return { number: seals, hash }
  }
  const { storage } = controller
  const sealIds = () => storage.read((tx) => tx.collection(auditSeals).findIds())
  return { controller, storage, change, state, head, sealIds, verify: operator.verifyAudit, operator }
}

describe('a trail that somebody made shorter', () => {
  it('is not whole for a head of before what is kept, and tells what was removed after a head that is kept', async () => {
    const { change, head, verify, controller } = await scene({ audit: { keepMs: 60_000 } })
    await change()
    const early = await head()
    for (let at = 0; at < 3; at += 1) {
      await change()
      await controller.elapse(20_000)
    }
    const late = await head()
    expect(await verify(late)).toMatchObject({ isWhole: true, removedSinceHead: 0, since: expect.stringMatching(/Z$/) })
    for (let at = 0; at < 2; at += 1) {
      await controller.elapse(10_000)
      await change()
    }
    expect(await verify(early)).toMatchObject({
      isWhole: false,
      tampering: { what: 'head-removed', seal: early.number },
    })
    const finding = await verify(late)
    expect(finding).toMatchObject({ isWhole: true })
    expect(finding.removedSinceHead).toBeGreaterThan(0)
    expect(finding.removed).toBeGreaterThanOrEqual(finding.removedSinceHead ?? 0)
  })

  it('is not whole without all of its seals, and without any', async () => {
    const { change, storage, sealIds, verify, controller, head } = await scene()
    for (let at = 0; at < 3; at += 1) await change()
    const kept = await head()
    const [first = '', second = ''] = await sealIds()
    const remove = (id: string) => storage.write((tx) => tx.collection(auditSeals).delete(id))
    const seal = await storage.read((tx) => tx.collection(auditSeals).get(second))
    await remove(second)
    expect((await verify()).tampering).toEqual({ what: 'seal-removed', record: null, seal: 2 })
    await storage.write((tx) => tx.collection(auditSeals).insert(seal ?? expect.fail()))
    expect((await verify(kept)).isWhole).toBe(true)
    await remove(first)
    expect((await verify()).tampering).toMatchObject({ what: 'seal-removed' })

    for (const id of await sealIds()) await remove(id)
    expect((await verify()).tampering).toMatchObject({ what: 'seal-removed' })
    await storage.write((tx) => tx.collection(auditStates).delete('chain'))
    expect((await verify(kept)).tampering).toMatchObject({ what: 'chain-cut' })
    const records = await storage.read((tx) => tx.collection(auditRecords).findIds())
    await storage.write(async (tx) => {
      for (const id of records) await tx.collection(auditRecords).delete(id)
    })
    expect((await verify()).tampering).toMatchObject({ what: 'trail-removed' })
    await controller.elapse(0)
  })
})

describe('the state of the chain', () => {
  it('that is removed is missed, and sealing goes on and says so', async () => {
    const { change, storage, verify, state, operator, controller } = await scene()
    for (let at = 0; at < 3; at += 1) await change()
    const before = await state()
    await storage.write((tx) => tx.collection(auditStates).delete('chain'))
    expect((await verify()).tampering).toEqual({ what: 'state-altered', record: null, seal: null })
    await change()
    expect(await state()).toMatchObject({ seals: (before?.seals ?? 0) + 1, firstKept: 1 })
    expect(await verify()).toMatchObject({ isWhole: true, unsealed: 0 })
    const { entries } = await operator.readAudit({ filter: 'type = "audit.rebuilt"' })
    expect(entries).toHaveLength(1)
    expect((await controller.engine.services.list(SYSTEM_CALL)).totalCount).toBe(4)
  })

  it('that is made anew still tells subscribers that records were removed before they read them', async () => {
    const { change, storage, state, controller } = await scene({ audit: { keepMs: 600_000 } })
    await change()
    await controller.elapse(700_000)
    for (let at = 0; at < 3; at += 1) await change()
    const before = (await state()) ?? expect.fail()
    expect(before.removedTo).not.toBeNull()
    const kept = await storage.read((tx) => tx.collection(auditRecords).findIds())
    const isRightEnd = (removedTo = ''): boolean =>
      removedTo >= (before.removedTo ?? '') && kept.every((id) => id > removedTo)
    for (const lost of [
      () => storage.write((tx) => tx.collection(auditStates).delete('chain')),
      // Earlier versions left it like this.
      async () => {
        const made = (await state()) ?? expect.fail()
        await storage.write((tx) => tx.collection(auditStates).update({ ...made, removedTo: null }))
      },
    ]) {
      await lost()
      await change()
      expect(await state()).toMatchObject({ removed: before.removed, removedTo: expect.toSatisfy(isRightEnd) })
    }
  })

  it.each([
    ['sealed', { sealed: '9'.repeat(24) }],
    ['seals', { seals: 2 }],
    ['bytes', { bytes: 1 }],
    ['removed', { removed: 5 }],
    ['firstKept', { firstKept: 2 }],
  ])('that says another %s is told of, and what is written then is sealed all the same', async (_field, alteration) => {
    const { change, storage, verify, state } = await scene()
    for (let at = 0; at < 3; at += 1) await change()
    const before = (await state()) ?? expect.fail()
    await storage.write((tx) => tx.collection(auditStates).update({ ...before, ...alteration }))
    expect(await verify()).toMatchObject({ isWhole: false, tampering: { what: 'state-altered' } })
    await change()
    expect((await state())?.seals).toBe(before.seals + 1)
  })
})

it('records that are kept from being sealed are told of', async () => {
  const { change, storage, verify } = await scene()
  await change()
  const [id = ''] = await storage.read((tx) => tx.collection(auditRecords).findIds())
  const record = (await storage.read((tx) => tx.collection(auditRecords).get(id))) ?? expect.fail()
  const at = record.createdAt + 3_600_000
  await storage.write(async (tx) => {
    const later = (place: number) => ({ ...record, id: `0009${String(place).padStart(20, '0')}` })
    await tx.collection(auditRecords).insert(later(1))
    await tx.collection(auditRecords).insert({ ...later(2), createdAt: at, updatedAt: at })
  })
  expect((await verify()).tampering).toMatchObject({ what: 'record-unsealed' })
})

describe('the columns of a record', () => {
  it.each([
    ['tags', 'update audit_records set tags = \'{"a":1}\' where id = (select min(id) from audit_records)'],
    [
      'the instant of a change',
      'update audit_records set updated_at = 5 where id = (select min(id) from audit_records)',
    ],
    ['tags of a seal', 'update audit_seals set tags = \'{"a":1}\''],
    ['bytes of a seal', 'update audit_seals set bytes = bytes + 1'],
  ])('are all verified: %s', async (_what, sql) => {
    const { operator, run } = await stored()
    expect((await operator.verifyAudit()).isWhole).toBe(true)
    run(sql)
    expect((await operator.verifyAudit()).isWhole).toBe(false)
  })

  it('that a database searches by decide nothing of what is read', async () => {
    const { operator, run } = await stored()
    const read = async () =>
      (await operator.readAudit({ filter: 'type icontains "CREATED" and kind icontains "SERVICES"' })).entries
    const before = await read()
    expect(before.length).toBeGreaterThan(0)
    run("update audit_records set id_folded = 'x', type_folded = 'x', kind_folded = 'x', entity_id_folded = 'x'")
    expect(await read()).toEqual(before)
    expect((await operator.verifyAudit()).isWhole).toBe(true)
  })
})

/** A trail in SQLite, and a way to write into it past the controller. */
async function stored() {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'network.sqlite')
  const storage = await sqliteStorage(file)
  const controller = await createTestController(await withSharedPki({ storage }))
  await controller.engine.services.create(SYSTEM_CALL, { name: 'one', encryptionRequired: true })
  await controller.close()
  await storage.close()
  const opened = await sqliteStorage(file)
  const operator = await openOperator({ storage: opened })
  onTestFinished(() => operator.close())
  const run = (sql: string) => {
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
  }
  return { operator, run }
}
