import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { openOperator, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'

const folder = new URL('released/', import.meta.url)
const releases = (await readdir(folder)).flatMap((name) => /^(\d{4})\.sqlite\.gz$/.exec(name)?.[1] ?? [])

/** A database as a released version left it when it was killed, and the head of its chain that was kept elsewhere. */
async function released(number: string) {
  const place = await mkdtemp(join(tmpdir(), 'portcullis-released-'))
  onTestFinished(() => rm(place, { recursive: true }))
  const file = join(place, 'network.sqlite')
  await writeFile(file, gunzipSync(await readFile(new URL(`${number}.sqlite.gz`, folder))))
  const head: { readonly number: number; readonly hash: string } = JSON.parse(
    await readFile(new URL(`${number}.head.json`, folder), 'utf8'),
  )
  return { file, head }
}

describe.each(releases)('the audit trail of release %s', (number) => {
  it('goes on: what was written is verified with what comes, against the head of before', async () => {
    const { file, head } = await released(number)
    const storage = await sqliteStorage(file)
    onTestFinished(() => storage.close())
    const controller = await createTestController({ storage })
    const api = ownApi(controller, await adminToken(controller))
    const headNow = async () => (await api.call('GET /audit/head')).data
    const operator = await openOperator({ storage })
    const { records, number: sealed } = await headNow()
    expect(sealed).toBeGreaterThan(head.number)
    const { data } = await controller.admin.call('POST /services', { body: { name: 'new', encryptionRequired: true } })
    expect((await headNow()).number).toBeGreaterThan(sealed)
    const found = await operator.verifyAudit(head)
    expect(found).toMatchObject({ isWhole: true, tampering: null, unsealed: 0, removed: 0 })
    expect(found.records).toBeGreaterThan(records)
    // Records of before and of now are one trail, in order, and what was not sealed when the process was killed is there.
    const query = { filter: 'type = "entity.created" and kind = "services"', after: '' }
    const { entries } = (await api.call('GET /audit', { query })).data
    expect(entries.map(({ entity }) => entity?.name)).toEqual(['one', 'two', 'unsealed', 'new'])
    expect(entries.at(-1)?.entity?.id).toBe(data.id)
    const [first] = (await controller.engine.services.list(SYSTEM_CALL)).items
    const { entries: ofFirst } = (await api.call('GET /audit', { query: { entity: first?.id ?? '' } })).data
    expect(ofFirst.map(({ type }) => type)).toEqual(['entity.updated', 'entity.created'])
    await controller.close()
  })

  it('is found altered where it was, by the storage alone', async () => {
    const { file, head } = await released(number)
    const database = new DatabaseSync(file)
    database.exec("update audit_records set actor_id = 'somebody' where id = (select min(id) from audit_records)")
    database.close()
    const storage = await sqliteStorage(file)
    const operator = await openOperator({ storage })
    expect((await operator.verifyAudit(head)).tampering).toMatchObject({ what: 'record-altered', seal: 1 })
    await operator.close()
  })
})

it('has the trail of at least one release', () => {
  expect(releases.length).toBeGreaterThan(0)
})
