import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const MINUTE_MS = 60_000

/** Two processes over one storage; the second hears of nothing that the first does. */
async function twoProcesses() {
  const place = mkdtempSync(join(tmpdir(), 'portcullis-gone-'))
  const file = join(place, 'network.sqlite')
  const open = async () =>
    createTestController(
      await withSharedPki({ storage: await sqliteStorage(file), apiSessionTimeoutMs: 6 * MINUTE_MS }),
    )
  const [first, second] = [await open(), await open()]
  onTestFinished(async () => {
    await second.close()
    rmSync(place, { recursive: true, force: true })
  })
  return { first, second }
}

it('what ends by time ends in a process that nobody asks, where the process that wrote it is gone', async () => {
  const { first, second } = await twoProcesses()
  const { engine, admin, clock } = first
  const at = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS).toISOString()
  const person = { name: 'anna', type: 'User', isAdmin: true, rightsUntil: at(5) } as const
  const { id } = (await admin.call('POST /identities', { body: person })).data
  const { id: wiki } = await engine.services.create(SYSTEM_CALL, { name: 'wiki' })
  const grant = { name: 'grant', type: 'Dial', semantic: 'AnyOf', until: at(5) } as const
  const roles = { identityRoles: [`@${id}`], serviceRoles: [`@${wiki}`] }
  const policy = (await admin.call('POST /service-policies', { body: { ...grant, ...roles } })).data
  const caller = await engine.host.startSession(id)
  const changed: string[] = []
  second.events.on('entity.changed', ({ id: of }) => changed.push(of))
  second.events.on('api-session.ended', ({ apiSessionId }) => changed.push(apiSessionId))
  await first.close()
  await second.elapse(5 * MINUTE_MS + 10_000)
  expect(changed).toEqual(expect.arrayContaining([id, policy.id]))
  await second.elapse(MINUTE_MS)
  expect(changed).toContain(caller.apiSession.id)
})
