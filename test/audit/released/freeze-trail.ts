// Keeps a database with an audit trail as this version makes it, for the tests of every later version; run it once for each release
// whose trail differs: node --conditions=portcullis-source test/audit/released/freeze-trail.ts 0001
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { adminToken, ownApi } from '../../support/delegate.ts'

const [number] = process.argv.slice(2)
if (number === undefined || !/^\d{4}$/.test(number)) throw new Error('say the number of the release, for example 0001')

const folder = mkdtempSync(join(tmpdir(), 'portcullis-freeze-'))
const storage = await sqliteStorage(join(folder, 'network.sqlite'))
const controller = await createTestController({ storage })
const api = ownApi(controller, await adminToken(controller))
/** The head of the chain, after what was written is sealed. */
const headNow = async () => (await api.call('GET /audit/head')).data
for (const name of ['one', 'two']) {
  const { data } = await controller.admin.call('POST /services', { body: { name, encryptionRequired: true } })
  await controller.admin.call('PATCH /services/{id}', { params: { id: data.id }, body: { roleAttributes: [name] } })
  await headNow()
}
const head = await headNow()
// The last change is not sealed yet when the copy is made, as when a process is killed.
await controller.admin.call('POST /services', { body: { name: 'unsealed', encryptionRequired: true } })
const database = new DatabaseSync(join(folder, 'network.sqlite'))
database.exec(`vacuum into '${join(folder, 'copy.sqlite')}'`)
database.close()
await controller.close()
await storage.close()
const here = (name: string) => new URL(`${number}.${name}`, import.meta.url)
writeFileSync(here('sqlite.gz'), gzipSync(readFileSync(join(folder, 'copy.sqlite')), { level: 9 }))
writeFileSync(here('head.json'), `${JSON.stringify({ number: head.number, hash: head.hash })}\n`)
rmSync(folder, { recursive: true })
