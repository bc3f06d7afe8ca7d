import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { CompiledQuery } from 'kysely'
import { createController, SYSTEM_CALL } from 'portcullis'
import type { JointConnection, KyselyStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import type { SignUpTables } from './joint-process.ts'

/** A database in which a host keeps its own tables beside those of a controller. */
export interface SharedDatabase {
  open(options?: { readonly busyTimeoutMs?: number }): Promise<KyselyStorage<SignUpTables>>
  /** How a process of its own opens it. */
  readonly place: string
}

const CREATE = 'create table if not exists tenants (name varchar(40) primary key, seats integer not null)'

/** The guarantees of `together` in a database: `fresh` answers a new database for each test. */
export function jointWriteContract(fresh: () => Promise<SharedDatabase>): void {
  /** A controller over a database with the host's table, and what both hold. */
  async function shared() {
    const database = await fresh()
    const storage = await database.open()
    const net = await createTestController({ storage })
    await storage.together(({ transaction }) => transaction.executeQuery(CompiledQuery.raw(CREATE)))
    const tenants = () =>
      storage.together(async ({ transaction }) =>
        (await transaction.selectFrom('tenants').select('name').orderBy('name').execute()).map(({ name }) => name),
      )
    const services = async () =>
      (await net.engine.services.list(SYSTEM_CALL, { sort: 'name' })).items.map(({ name }) => name)
    return { database, storage, net, tenants, services }
  }

  it('makes statements of the host and calls of the controller one commit, with events after it', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const { storage, net } = made
    const told: string[] = []
    net.events.on('entity.changed', ({ kind }) => void told.push(kind))
    const before = await storage.read(async ({ revision }) => revision)
    const answer = await storage.together(async ({ transaction, controller }) => {
      await transaction.insertInto('tenants').values({ name: 'acme', seats: 5 }).execute()
      const { id } = await controller.engine.services.create(SYSTEM_CALL, { name: 'acme-app' })
      await controller.engine.services.patch(SYSTEM_CALL, id, { roleAttributes: ['acme'] })
      const { jwt } = await controller.invite('acme-laptop', { roleAttributes: ['acme'] })
      expect((await controller.as(SYSTEM_CALL).services.get(id)).roleAttributes).toEqual(['acme'])
      expect(told).toEqual([])
      expect(await transaction.selectFrom('tenants').select('seats').execute()).toEqual([{ seats: 5 }])
      return jwt
    })
    expect(answer).toMatch(/^ey/)
    expect(await storage.read(async ({ revision }) => revision)).toBe(before + 1)
    expect(told).toEqual(expect.arrayContaining(['services', 'identities']))
    expect([await made.tenants(), await made.services()]).toEqual([['acme'], ['acme-app']])
    expect(await net.reach('acme-laptop')).toEqual({ dial: [], bind: [] })
  })

  it('rolls both back for an error of the host, a refused change that was caught, and a failed statement', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const { storage, net } = made
    await net.engine.services.create(SYSTEM_CALL, { name: 'taken' })
    const both = (then: () => Promise<unknown>) =>
      storage.together(async ({ transaction, controller }) => {
        await transaction.insertInto('tenants').values({ name: 'acme', seats: 5 }).execute()
        await controller.engine.services.create(SYSTEM_CALL, { name: 'new' })
        await then()
        return controller.engine.services.create(SYSTEM_CALL, { name: 'taken' }).catch(() => 'caught')
      })
    await expect(both(() => Promise.reject(new Error('the card was refused')))).rejects.toThrow('the card was refused')
    await expect(both(async () => undefined)).rejects.toThrow("duplicate value 'taken'")
    const twice = storage.together(async ({ transaction, controller }) => {
      await controller.engine.services.create(SYSTEM_CALL, { name: 'new' })
      await transaction.insertInto('tenants').values({ name: 'acme', seats: 5 }).execute()
      await transaction.insertInto('tenants').values({ name: 'acme', seats: 6 }).execute()
    })
    await expect(twice).rejects.toThrow(/unique/i)
    expect([await made.tenants(), await made.services()]).toEqual([[], ['taken']])
  })

  it('has the rights of a caller, and refuses writes past the transaction, its end, and other questions', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const { storage, net } = made
    const outside = storage.together(() => net.engine.services.create(SYSTEM_CALL, { name: 'outside' }))
    await expect(outside).rejects.toThrow('a write cannot begin inside another write')
    const anonymous = storage.together(({ controller }) =>
      controller.as({ by: 'anonymous' }).services.create({ name: 'x' }),
    )
    await expect(anonymous).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    const ended = storage.together(({ transaction }) => transaction.executeQuery(CompiledQuery.raw('commit')))
    await expect(ended).rejects.toThrow('the storage begins and ends this transaction')
    const kept = await storage.together(async (joint) => joint)
    await expect(kept.transaction.selectFrom('tenants').selectAll().execute()).rejects.toThrow(/committed|ended/)
    await expect(kept.controller.engine.services.list(SYSTEM_CALL)).rejects.toThrow('transaction has ended')
    expect(await made.services()).toEqual([])
  })

  it('takes statements of the connection into the commit, with rows as the driver has them', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const values = made.database.place.startsWith('postgres:') ? '($1, $2)' : '(?, ?)'
    const signUp = (name: string, then = async (_connection: JointConnection) => {}) =>
      made.storage.together(async ({ connection, controller }) => {
        const { rowCount } = await connection.query(`insert into tenants (name, seats) values ${values}`, [name, 5])
        await controller.engine.services.create(SYSTEM_CALL, { name })
        const text = 'select name, seats, name from tenants'
        const { rows } = await connection.query<readonly unknown[]>({ text, rowMode: 'array' })
        const { rows: objects } = await connection.query({ text: 'select seats from tenants', values: [] })
        await then(connection)
        return { rowCount, rows, objects }
      })
    const refused = signUp('acme', () => Promise.reject(new Error('the card was refused')))
    await expect(refused).rejects.toThrow('the card was refused')
    expect([await made.tenants(), await made.services()]).toEqual([[], []])
    const answer = await signUp('acme')
    expect(answer).toEqual({ rowCount: 1, rows: [['acme', 5, 'acme']], objects: [{ seats: 5 }] })
    const twice = signUp('other', async (connection) => {
      await connection.query("insert into tenants (name, seats) values ('acme', 6)")
    })
    await expect(twice).rejects.toThrow(/unique/i)
    expect([await made.tenants(), await made.services()]).toEqual([['acme'], ['acme']])
  })

  it('refuses statements that would end the transaction, and a part of it is never committed', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const { storage } = made
    const endings = [
      ...[
        'commit',
        'COMMIT AND CHAIN',
        ' end',
        ';end',
        'abort',
        'begin',
        'start transaction',
        'rollback',
        'rollback work',
      ],
      ...['/* a */ /* b */ commit', '-- a\ncommit', '-- a\rcommit', '/* /* a */ */ commit', "prepare transaction 'a'"],
      ...['savepoint one_write', 'release savepoint "one_write"', 'rollback to One_Write', 'rollback/**/to one_write'],
    ]
    const kept = await storage.together(async ({ connection, transaction, controller }) => {
      await controller.engine.services.create(SYSTEM_CALL, { name: 'acme' })
      for (const text of endings) {
        const refusal = 'the storage begins and ends this transaction'
        await expect(connection.query(text), text).rejects.toThrow(refusal)
        await expect(transaction.executeQuery(CompiledQuery.raw(text)), text).rejects.toThrow(refusal)
      }
      await expect(connection.query('rollback to sp1')).rejects.toThrow("the work has no savepoint 'sp1'")
      const called = Reflect.apply(connection.query, undefined, ['select 1', [], () => undefined])
      await expect(called).rejects.toThrow('query takes no callback')
      await connection.query("insert into tenants (name, seats) values ('acme', 5)")
      return connection
    })
    expect([await made.tenants(), await made.services()]).toEqual([['acme'], ['acme']])
    const late = "insert into tenants (name, seats) values ('late', 5)"
    await expect(kept.query(late)).rejects.toThrow('the transaction has ended')
    for (const by of ['connection', 'transaction'] as const) {
      const halves = storage.together(async ({ [by]: way, controller }) => {
        await controller.engine.services.create(SYSTEM_CALL, { name: 'half' })
        await ('query' in way ? way.query(`${late}; commit`) : way.executeQuery(CompiledQuery.raw(`${late}; commit`)))
      })
      await expect(halves).rejects.toThrow(/one statement at a time|multiple commands/)
    }
    expect([await made.tenants(), await made.services()]).toEqual([['acme'], ['acme']])
  })

  it('lets the host go back to a savepoint, but not past a call of the controller', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const insert = (name: string) => `insert into tenants (name, seats) values ('${name}', 5)`
    await made.storage.together(async ({ connection, controller }) => {
      await connection.query(insert('acme'))
      await connection.query('savepoint sp1')
      await expect(connection.query(insert('acme'))).rejects.toThrow(/unique/i)
      await connection.query('rollback to savepoint "sp1"')
      await connection.query(insert('gone'))
      await connection.query('rollback to sp1')
      await controller.engine.services.create(SYSTEM_CALL, { name: 'acme' })
      const back = connection.query('ROLLBACK TO sp1')
      await expect(back).rejects.toThrow("the controller was called after the savepoint 'sp1'")
      await connection.query('release sp1')
      await expect(connection.query('release sp1')).rejects.toThrow("the work has no savepoint 'sp1'")
    })
    expect([await made.tenants(), await made.services()]).toEqual([['acme'], ['acme']])
  })

  it('waits for a statement that the work did not wait for: it is part of the commit, or nothing is committed', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const floating = (name: string) =>
      made.storage.together(async ({ connection, controller }) => {
        await controller.engine.services.create(SYSTEM_CALL, { name })
        void connection.query("insert into tenants (name, seats) values ('acme', 5)").catch(() => undefined)
      })
    await floating('first')
    // SQLite goes on after a failed statement, whose changes alone are undone.
    await floating('second').catch((error: unknown) => expect(String(error)).toMatch(/unique/i))
    const isOver = made.database.place.startsWith('postgres:')
    expect(await made.services()).toEqual(isOver ? ['first'] : ['first', 'second'])
    expect(await made.tenants()).toEqual(['acme'])
  })

  it('is rolled back after its time, and lets other writers on', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    const { storage, net } = made
    const stuck = storage.together(
      async ({ controller }) => {
        await controller.engine.services.create(SYSTEM_CALL, { name: 'stuck' })
        return new Promise<never>(() => undefined)
      },
      { timeoutMs: 50 },
    )
    await expect(stuck).rejects.toThrow('the joint write took longer than 50 ms')
    await net.engine.services.create(SYSTEM_CALL, { name: 'next' })
    expect(await made.services()).toEqual(['next'])
  })

  it('is made whole or not at all when its process is killed between any two statements', async () => {
    await using made = await shared().then((all) => ({ ...all, [Symbol.asyncDispose]: () => all.net.close() }))
    for (const step of [1, 2, 3, 4, 5, 6]) {
      const child = spawn(
        process.execPath,
        [
          '--conditions=portcullis-source',
          `${import.meta.dirname}/joint-process.ts`,
          made.database.place,
          String(step),
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let said = ''
      child.stdout.on('data', (text) => (said += text))
      const [, signal] = await once(child, 'close')
      expect([signal, said]).toEqual(step === 6 ? [null, 'committed'] : ['SIGKILL', ''])
      const name = `tenant-${step}`
      const tenants = (await made.tenants()).filter((tenant) => tenant.startsWith(name))
      const hasService = (await made.services()).includes(name)
      const { items } = await made.net.engine.identities.list(SYSTEM_CALL, { filter: `name = "${name}"` })
      const isWhole = step === 6
      expect(tenants).toEqual(isWhole ? [name, `${name}-second`] : [])
      expect([step, hasService, items.length === 1]).toEqual([step, isWhole, isWhole])
    }
  }, 240_000)

  it('needs a controller', async () => {
    const database = await fresh()
    const storage = await database.open()
    await expect(storage.together(async () => undefined)).rejects.toThrow('createController comes first')
    const controller = await createController({ storage, address: 'localhost:1280', webhooks: false })
    expect(await storage.together(async () => 'now')).toBe('now')
    await controller.close()
  })
}
