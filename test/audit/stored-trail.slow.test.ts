import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openOperator, type Storage, SYSTEM_CALL } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/postgres.ts'
import { auditRecords } from '../support/stored-records.ts'

const STORES: Readonly<Record<string, () => Promise<() => Promise<Storage>>>> = {
  SQLite: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-audit-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    return () => sqliteStorage(join(folder, 'records.sqlite'))
  },
  PostgreSQL: async () => {
    const database = await createDatabase()
    onTestFinished(() => database.drop())
    return () => postgresStorage({ connection: database.url })
  },
}

it('the audit trail is sealed to its end in one round, also where a record among two hundred is damaged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'records.sqlite')
  const storage = await sqliteStorage(file, { cachedRecords: 0 })
  onTestFinished(() => storage.close())
  const net = await createTestController({ storage })
  await net.elapse(5000)
  for (let at = 0; at < 450; at++) await net.engine.services.create(SYSTEM_CALL, { name: `service ${at}` })
  const database = new DatabaseSync(file)
  database.exec(`update audit_records set content = 'damaged' where id = (select max(id) from audit_records where id <
    (select id from audit_records order by id desc limit 1 offset 300))`)
  const all = Number(database.prepare('select count(*) as number from audit_records').get()?.number)
  database.close()
  await net.elapse(1100)
  const beside = await sqliteStorage(file)
  onTestFinished(() => beside.close())
  const operator = await openOperator({ storage: beside, name: 'ann' })
  expect(await operator.verifyAudit()).toMatchObject({ records: all - 1 })
  await operator.close()
  await net.close()
})

describe.each(Object.entries(STORES))('the audit trail in %s', (_name, make) => {
  it('is one chain, whichever of several processes writes, and is verified by its operator', async () => {
    const open = await make()
    const storages = [await open(), await open()]
    const controllers = await Promise.all(
      storages.map((storage, seed) => createTestController({ storage, seed: seed + 1 })),
    )
    const works = controllers.flatMap((controller, process) =>
      Array.from({ length: 20 }, async (_, at) => {
        const name = `service ${process} ${at}`
        await controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })
      }),
    )
    await Promise.all(works)
    for (const controller of controllers) await controller.elapse(1100)
    for (const controller of controllers) await controller.close()
    for (const storage of storages) await storage.close()

    const operator = await openOperator({ storage: await open(), name: 'ann' })
    const finding = await operator.verifyAudit()
    expect(finding).toMatchObject({ isWhole: true, unsealed: 0, tampering: null })
    const { entries } = await operator.readAudit({ filter: 'kind = "services"', limit: 500 })
    expect(new Set(entries.map(({ entity }) => entity?.name)).size).toBe(40)
    expect(entries.map(({ id }) => id)).toEqual(
      entries
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    )
    await operator.resetAdminPassword({ password: 'correct horse battery' })
    await operator.close()

    const storage = await open()
    onTestFinished(() => storage.close())
    const again = await openOperator({ storage, name: 'ben' })
    const commands = (await again.readAudit({ filter: 'type = "operator.command"' })).entries
    expect(commands).toMatchObject([
      { author: { by: 'operator', name: 'ann' }, facts: { command: 'reset-admin-password' } },
    ])
    const [victim = ''] = await storage.read((tx) => tx.collection(auditRecords).findIds({ limit: 1 }))
    await storage.write((tx) => tx.collection(auditRecords).delete(victim))
    expect((await again.verifyAudit(finding.head)).tampering).toEqual({
      what: 'record-removed',
      record: victim,
      seal: 1,
    })
  })

  it('holds what a write did, and nothing of one that was undone', async () => {
    const open = await make()
    const storage = await open()
    const controller = await createTestController({ storage })
    onTestFinished(async () => {
      await controller.close()
      await storage.close()
    })
    const create = (name: string) => controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })
    // All of them wait for one commit; every second one is undone within it.
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, at) => create(`s${Math.floor(at / 2)}`)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(15)
    await controller.elapse(1100)
    const told = await storage.read(async (tx) => (await tx.collection(auditRecords).find()).items)
    const names = told.flatMap(({ kind, content }) => (kind === 'services' ? [content.entityName] : []))
    expect(names.toSorted()).toEqual(Array.from({ length: 15 }, (_, at) => `s${at}`).toSorted())
  })
})
