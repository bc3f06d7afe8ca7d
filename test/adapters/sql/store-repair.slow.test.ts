import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openOperator } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { plainPasswordHasher } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminOf, create, read } from '../../contract/http/foreign-client.ts'
import { mount } from '../../support/mount.ts'
import { login, person } from '../../support/people.ts'

/** A controller that serves a file, which others open as well. */
async function served() {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-repair-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'network.db')
  const mounted = await mount({ storage: await sqliteStorage(file) })
  const admin = await adminOf(mounted)
  const damage = (statement: string) => {
    const database = new DatabaseSync(file)
    database.exec(statement)
    database.close()
  }
  const operate = async <T>(work: (operator: Awaited<ReturnType<typeof openOperator>>) => Promise<T>) => {
    const operator = await openOperator({ storage: await sqliteStorage(file), passwordHasher: plainPasswordHasher })
    return work(operator).finally(() => operator.close())
  }
  const snapshots = () => readdirSync(folder).filter((name) => name.includes('snapshot'))
  const anew = async () => mount({ storage: await sqliteStorage(file) })
  return { mounted, admin, anew, damage, operate, snapshots }
}

/** Columns of a stored policy that cannot be used, as SQL has them. */
const DAMAGES = [
  ['a text that is no JSON', `update auth_policies set "primary" = '{"updb' where id = 'default'`],
  ['an object without what is declared', `update auth_policies set "primary" = '{}' where id = 'default'`],
  ['null', `update auth_policies set secondary = null where id = 'default'`],
] as const

describe('a default auth policy that is damaged', () => {
  it.each(DAMAGES)('by %s lets nobody in, and is restored while the store is served', async (_, statement) => {
    const { anew, damage, operate, snapshots } = await served()
    damage(statement)
    // A process that had read the record before it was damaged, past every controller, goes on by what it knows.
    const mounted = await anew()
    expect((await login(mounted)).status).not.toBe(200)
    await operate(async (operator) => {
      expect(await operator.checkIntegrity()).toEqual([expect.stringMatching(/^authPolicies default is damaged: /)])
      expect(await operator.repair()).toEqual([expect.objectContaining({ outcome: 'restored' })])
      expect(await operator.checkIntegrity()).toEqual([])
    })
    expect(snapshots()).toHaveLength(1)
    expect((await login(mounted)).status).toBe(200)
    const policy = await read(await adminOf(mounted), '/auth-policies/default')
    expect(policy).toMatchObject({ name: 'Default', primary: { updb: { allowed: true } } })
  })

  it('keeps what can be read of it', async () => {
    const { admin, damage, operate } = await served()
    const policy = await read(admin, '/auth-policies/default')
    const secondary = { ...policy.secondary, requireTotp: true }
    expect((await admin.patch('/auth-policies/default', { secondary })).status).toBe(200)
    damage(DAMAGES[0][1])
    await operate(async (operator) => {
      await operator.repair()
      expect(await operator.list('auth-policies')).toMatchObject([{ secondary: { requireTotp: true } }])
    })
  })
})

describe('other records that are damaged', () => {
  it('are left as they are, and deleted when that is asked for, each by its name', async () => {
    const { mounted, admin, damage, operate } = await served()
    const alice = await person(mounted, admin, 'alice')
    const service = await create(admin, '/services', { name: 'web', encryptionRequired: true })
    damage(`update services set tags = '{"a' where id = '${service}'`)
    damage(`update authenticators set method = 'magic' where identity_id = '${alice.id}'`)
    const outcomes = (deletesDamaged: boolean) =>
      operate(async (operator) => (await operator.repair({ deletesDamaged })).map(({ outcome }) => outcome))
    expect(await outcomes(false)).toEqual(['left', 'left'])
    expect(await operate((operator) => operator.checkIntegrity())).toHaveLength(2)
    const told = await operate((operator) => operator.repair({ deletesDamaged: true }))
    expect(told.map(({ outcome, note }) => [outcome, note])).toEqual([
      ['deleted', expect.stringContaining(alice.id)],
      ['deleted', expect.stringContaining('"name":"web"')],
    ])
    expect(JSON.stringify(told)).not.toContain('Horse')
    expect(await operate((operator) => operator.checkIntegrity())).toEqual([])
    expect((await admin.get(`/services/${service}`)).status).toBe(404)
    expect((await admin.get(`/identities/${alice.id}`)).status).toBe(200)
  })

  it('that others need are left, with the reason', async () => {
    const { mounted, admin, damage, operate } = await served()
    const body = await read(admin, '/auth-policies/default')
    const policy = await create(admin, '/auth-policies', { ...body, name: 'strict' })
    await person(mounted, admin, 'alice', { authPolicyId: policy })
    damage(`update auth_policies set "primary" = '{' where id = '${policy}'`)
    expect(await operate((operator) => operator.repair({ deletesDamaged: true }))).toEqual([
      expect.objectContaining({ outcome: 'left', note: expect.stringContaining('referenced by identities') }),
    ])
  })
})
