import { openOperator, type Storage } from 'portcullis'
import { type KyselyStorageOptions, kyselyStorage, migrate, SchemaMismatch } from 'portcullis/kysely'
import { type Filter, RECORD_KINDS, type RecordKind, type StoredRecord } from 'portcullis/storage'
import { createTestController, type TestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import {
  insertAll,
  machine,
  machines,
  ticket,
  tickets,
  where,
} from '../../../adapters/storage/contract/kinds-of-records.ts'
import { replayDatabase } from '../../support/released-database.ts'

/** Columns that a later version adds to machines, with and without defaults. */
const later: RecordKind<StoredRecord & Record<string, unknown>> = {
  name: machines.name,
  fields: {
    ...machines.fields,
    colour: 'string',
    Höhe: 'string',
    size: 'integer',
    ratio: 'number',
    locked: 'boolean',
    movedAt: 'instant',
    groups: 'set',
    labels: 'json',
  },
  unique: [...machines.unique, 'colour'],
  indexed: [...machines.indexed, 'size'],
  defaults: { size: 7, ratio: 0.5, locked: true, groups: ['x', 'Ä'], labels: { site: 'north' } },
}
const { Höhe: _, ...laterFields } = later.fields
const laterMachines = { ...later, fields: laterFields }
const doors: RecordKind<StoredRecord & { readonly name: string }> = {
  name: 'contract-doors',
  fields: { name: 'string' },
  unique: ['name'],
  indexed: [],
}

export type FreshDatabase = () => Promise<KyselyStorageOptions>

/** Declares the tests of how tables are made and changed; `fresh` names an empty database. */
export function describeMigrations(fresh: FreshDatabase): void {
  async function using<T>(options: KyselyStorageOptions, work: (storage: Storage) => Promise<T>): Promise<T> {
    const storage = await kyselyStorage(options)
    try {
      return await work(storage)
    } finally {
      await storage.close()
    }
  }
  const idsOf = async (storage: Storage, kind: RecordKind, filter: Filter) => {
    const { items } = await storage.read((tx) => tx.collection(kind).find({ where: filter }))
    return items.map(({ id }) => id)
  }
  const field = (name: string, value: string | number | boolean) =>
    ({ kind: 'compare', operand: { kind: 'field', field: name }, operator: '=', value }) as const

  it('tells the SQL of a dry run and changes nothing', async () => {
    const options = { ...(await fresh()), kinds: [machines, tickets] }
    const first = await migrate({ ...options, dryRun: true })
    expect(first.name).toBe('0001 create')
    expect(first.statements.filter((text) => text.startsWith('create table "')).join('\n')).toContain(
      'contract_machines',
    )
    expect(await migrate({ ...options, dryRun: true })).toEqual(first)
    expect(await migrate(options)).toEqual(first)
    expect(await migrate(options)).toEqual({ name: '', statements: [] })
    await using({ ...options, migrate: false }, (storage) => insertAll(storage, tickets, [ticket('t1')]))
  })

  it('refuses to start on missing tables where it may not create them', async () => {
    const options = { ...(await fresh()), kinds: [machines], migrate: false }
    await expect(kyselyStorage(options)).rejects.toThrow("lacks the migration '0001 create'")
  })

  it('adds what a later version declares, and keeps what is there', async () => {
    const options = await fresh()
    await using({ ...options, kinds: [machines, tickets] }, async (storage) => {
      await insertAll(storage, machines, [
        machine('m1', { serial: 'S-1', roles: ['red'], tags: { a: 1 } }),
        machine('m2'),
      ])
      await insertAll(storage, tickets, [ticket('t1')])
    })
    const kinds = [laterMachines, tickets, doors]
    const plan = await migrate({ ...options, kinds, dryRun: true })
    expect(plan.name).toMatch(/^0002 add contract_machines\.colour, /)
    expect(plan.statements.filter((text) => /^(drop|delete)/.test(text))).toEqual([])
    await using({ ...options, kinds }, async (storage) => {
      const defaults = { ...laterMachines.defaults, colour: null, movedAt: null }
      const { items } = await storage.read((tx) => tx.collection(laterMachines).find())
      const before = [machine('m1', { serial: 'S-1', roles: ['red'], tags: { a: 1 } }), machine('m2')]
      expect(items).toEqual(before.map((record) => ({ ...record, ...defaults })))
      expect(await idsOf(storage, laterMachines, field('size', 7))).toEqual(['m1', 'm2'])
      expect(await idsOf(storage, laterMachines, field('locked', true))).toEqual(['m1', 'm2'])
      const ofGroup = { ...field('groups', 'Ä'), operand: { kind: 'anyOf', field: 'groups' } } as const
      expect(await idsOf(storage, laterMachines, ofGroup)).toEqual(['m1', 'm2'])
      const folded = { kind: 'contains', operand: ofGroup.operand, text: 'ä', foldCase: true } as const
      expect(await idsOf(storage, laterMachines, folded)).toEqual(['m1', 'm2'])
      const labelled = { ...field('', 'north'), operand: { kind: 'json', field: 'labels', path: ['site'] } } as const
      expect(await idsOf(storage, laterMachines, labelled)).toEqual(['m1', 'm2'])
      const ratio = {
        kind: 'contains',
        operand: { kind: 'field', field: 'ratio' },
        text: '0.5',
        foldCase: false,
      } as const
      expect(await idsOf(storage, laterMachines, ratio)).toEqual(['m1', 'm2'])
      expect(await idsOf(storage, tickets, where('true'))).toEqual(['t1'])
      await insertAll(storage, doors, [{ id: 'd1', name: 'front' }])
      await insertAll(storage, laterMachines, [{ ...machine('m3'), ...defaults, colour: 'red' }])
      const again = insertAll(storage, laterMachines, [{ ...machine('m4'), ...defaults, colour: 'red' }])
      await expect(again).rejects.toMatchObject({ field: 'colour', value: 'red' })
      expect(await storage.read(async (tx) => tx.revision)).toBe(4)
    })
  })

  it('finds by a JSON field that may be searched from now on, whatever was stored before', async () => {
    const options = await fresh()
    const unsearched = { ...machines, searchedJson: [] }
    const many = Array.from({ length: 501 }, (_, index) =>
      machine(`m${index}`, { tags: { site: index % 100 === 7 ? 'Ä' : 'south', nested: { floor: index } } }),
    )
    const site = { ...field('', 'Ä'), operand: { kind: 'json', field: 'tags', path: ['site'] } } as const
    await using({ ...options, kinds: [unsearched] }, async (storage) => {
      await insertAll(storage, unsearched, many)
      await expect(idsOf(storage, unsearched, site)).rejects.toThrow('filters cannot look into a JSON field')
    })
    const plan = await migrate({ ...options, kinds: [machines], dryRun: true })
    expect(plan.name).toBe('0002 add contract_machines_tags')
    await using({ ...options, kinds: [machines] }, async (storage) => {
      const wanted = many.filter(({ tags }) => tags.site === 'Ä').map(({ id }) => id)
      expect((await idsOf(storage, machines, site)).toSorted()).toEqual(wanted.toSorted())
      const floor = { ...field('', 500), operand: { kind: 'json', field: 'tags', path: ['nested', 'floor'] } } as const
      expect(await idsOf(storage, machines, floor)).toEqual(['m500'])
      await storage.write((tx) => tx.collection(machines).update(machine('m500')))
      expect(await idsOf(storage, machines, floor)).toEqual([])
    })
  })

  it('keeps what is stored of a field that is retired, until it is declared again', async () => {
    const options = await fresh()
    const { owner: _owner, roles: _roles, ...remaining } = machines.fields
    const retired = { owner: 'string', roles: 'set' } as const
    const leaner: RecordKind = { ...machines, fields: remaining, indexed: ['cost'], retired }
    const whole = machine('m1', { owner: 'ann', roles: ['red'], cost: 1 })
    await using({ ...options, kinds: [machines] }, (storage) => insertAll(storage, machines, [whole]))
    const plan = await migrate({ ...options, kinds: [leaner], dryRun: true })
    expect(plan.statements.filter((text) => !/^drop index .*(owner|active)/.test(text))).toEqual([])
    const { owner, roles, ...shown } = whole
    await using({ ...options, kinds: [leaner] }, async (storage) => {
      expect((await storage.read((tx) => tx.collection(leaner).find())).items).toEqual([shown])
      await storage.write((tx) => tx.collection(leaner).update({ ...shown, cost: 2 } as StoredRecord))
      await insertAll(storage, leaner, [{ ...shown, id: 'm2', name: 'new' } as StoredRecord])
    })
    await using({ ...options, kinds: [machines] }, async (storage) => {
      const { items } = await storage.read((tx) => tx.collection(machines).find())
      expect(items).toEqual([
        { ...whole, cost: 2 },
        { ...shown, id: 'm2', name: 'new', owner: null, roles: null },
      ])
      expect(await idsOf(storage, machines, where('anyOf(roles) = "red"'))).toEqual(['m1'])
    })
  })

  it('comes back over a database to which a newer version only added, and leaves its tables alone', async () => {
    const options = await fresh()
    const newer = { ...options, kinds: [laterMachines, doors] }
    const older = { ...options, kinds: [machines] }
    await using(newer, async (storage) => {
      const later = {
        colour: 'red',
        size: 9,
        ratio: 1,
        locked: false,
        movedAt: 1,
        groups: ['a'],
        labels: { site: 'south' },
      }
      await insertAll(storage, laterMachines, [{ ...machine('m1', { roles: ['one'] }), ...later }])
      await insertAll(storage, doors, [{ id: 'd1', name: 'front' }])
    })
    expect(await migrate({ ...older, dryRun: true })).toEqual({ name: '', statements: [] })
    expect(await migrate(older)).toEqual({ name: '', statements: [] })
    await using(older, async (storage) => {
      const known = await storage.read((tx) => tx.collection(machines).get('m1'))
      expect(known).toEqual(machine('m1', { roles: ['one'] }))
      await storage.write(async (tx) => {
        await tx.collection(machines).update(machine('m1', { roles: ['two'] }))
        await tx.collection(machines).insert(machine('m2'))
      })
      expect(await idsOf(storage, machines, where('anyOf(roles) = "two"'))).toEqual(['m1'])
    })
    await using({ ...newer, migrate: false }, async (storage) => {
      const [m1, m2, d1] = await storage.read((tx) =>
        Promise.all([
          tx.collection(laterMachines).get('m1'),
          tx.collection(laterMachines).get('m2'),
          tx.collection(doors).get('d1'),
        ]),
      )
      expect(m1).toMatchObject({ roles: ['two'], colour: 'red', size: 9, groups: ['a'], labels: { site: 'south' } })
      expect(m2).toMatchObject({ id: 'm2', colour: null, size: 7, ratio: 0.5, locked: true, groups: ['x', 'Ä'] })
      expect(await idsOf(storage, laterMachines, field('size', 7))).toEqual(['m2'])
      expect(d1).toMatchObject({ name: 'front' })
    })
  })

  it('refuses a database of a newer version that lacks what it needs, and one of a newer format', async () => {
    const options = await fresh()
    await using({ ...options, kinds: [tickets, doors] }, async () => undefined)
    const older = { ...options, kinds: [machines, doors] }
    const line =
      /newer version: it has the table contract_tickets.*, and lacks the table contract_machines, which it needs/
    await expect(kyselyStorage(older)).rejects.toThrow(line)
    await expect(migrate({ ...older, dryRun: true })).rejects.toThrow(SchemaMismatch)
    const dialect = typeof options.dialect === 'function' ? options.dialect() : options.dialect
    const { schema, tablePrefix = '' } = options
    const table = `${schema === undefined ? '' : `"${schema}".`}"${tablePrefix}storage_migrations"`
    await replayDatabase(dialect, {
      statements: [{ sql: `update ${table} set format = 2`, parameters: [] }],
      records: [],
    })
    const known = kyselyStorage({ ...options, kinds: [tickets, doors] })
    await expect(known).rejects.toThrow('schema format 2, made by a newer version; this version knows format 1')
  })

  it('serves a network beside a newer version, started again meanwhile, and the audit trail is whole after both', async () => {
    const options = await fresh()
    const rooms = { ...doors, name: 'rooms' }
    const laterKinds = RECORD_KINDS.map((kind) =>
      kind.name === 'services'
        ? {
            ...kind,
            fields: { ...kind.fields, colour: 'string' as const },
            defaults: { ...kind.defaults, colour: 'grey' },
          }
        : kind,
    )
    const laterServices = laterKinds.find(({ name }) => name === 'services') ?? expect.fail()
    const newer = await kyselyStorage({ ...options, kinds: [...laterKinds, rooms] })
    const one = await createTestController({ storage: newer })
    await one.admin.call('POST /services', { body: { name: 'by the newer one', encryptionRequired: true } })
    for (const round of [1, 2]) {
      const older = await kyselyStorage(options)
      const other = await createTestController({ storage: older })
      const name = `by the older one ${round}`
      await other.admin.call('POST /services', { body: { name, encryptionRequired: true } })
      await newer.write((tx) => tx.collection(rooms).insert({ id: `r${round}`, name: `room ${round}` }))
      await one.admin.call('POST /services', { body: { name: `meanwhile ${round}`, encryptionRequired: true } })
      const namesAt = async ({ admin }: Pick<TestController, 'admin'>) =>
        (await admin.call('GET /services')).data.map((service) => service.name).sort()
      expect(await namesAt(other)).toContain(`meanwhile ${round}`)
      // The newer version finds its default in a record of the older one.
      const where = field('name', name)
      const { items, damaged } = await newer.read((tx) => tx.collection(laterServices).find({ where }))
      expect([damaged, items.map((service) => Reflect.get(service, 'colour'))]).toEqual([undefined, ['grey']])
      expect(await namesAt(one)).toEqual(await namesAt(other))
      await other.close()
      await older.close()
    }
    await one.close()
    await newer.close()
    const operator = await openOperator({ storage: await kyselyStorage({ ...options, kinds: [...laterKinds, rooms] }) })
    expect(await operator.verifyAudit()).toMatchObject({ isWhole: true, tampering: null })
    await operator.close()
  })

  it('refuses a column that holds something else', async () => {
    const options = await fresh()
    await using({ ...options, kinds: [doors] }, async () => undefined)
    const numbered: RecordKind = { ...doors, fields: { name: 'integer' } }
    const opened = kyselyStorage({ ...options, kinds: [numbered] })
    await expect(opened).rejects.toThrow('contract_doors.name holds text in the database, and integer here')
  })

  it('adds and drops indexes alone', async () => {
    const options = await fresh()
    await using({ ...options, kinds: [{ ...tickets, indexed: [] }] }, async (storage) =>
      insertAll(storage, tickets, [ticket('t1')]),
    )
    const more = await migrate({ ...options, kinds: [{ ...tickets, indexed: ['uses'] }] })
    expect(more.statements).toEqual([expect.stringMatching(/^create index .*uses/)])
    const less = await migrate({ ...options, kinds: [{ ...tickets, unique: [], indexed: ['uses'] }] })
    expect(less.statements[0]).toMatch(/^drop index .*token/)
  })

  it('migrates once when many start together', async () => {
    const options = { ...(await fresh()), kinds: [machines, tickets] }
    const storages = await Promise.all(Array.from({ length: 6 }, () => kyselyStorage(options)))
    await Promise.all(storages.map((storage, index) => insertAll(storage, tickets, [ticket(`t${index}`)])))
    expect(await idsOf(storages[0] as Storage, tickets, where('true'))).toHaveLength(6)
    await Promise.all(storages.map((storage) => storage.close()))
    expect(await migrate({ ...options, dryRun: true })).toEqual({ name: '', statements: [] })
  })

  it('keeps storages with different prefixes apart', async () => {
    const options = { ...(await fresh()), kinds: [tickets] }
    await using({ ...options, tablePrefix: 'a_' }, (storage) => insertAll(storage, tickets, [ticket('t1')]))
    await using({ ...options, tablePrefix: 'b_' }, async (storage) => {
      expect(await idsOf(storage, tickets, where('true'))).toEqual([])
    })
    await using({ ...options, tablePrefix: 'a_' }, async (storage) => {
      expect(await idsOf(storage, tickets, where('true'))).toEqual(['t1'])
    })
  })

  it('leaves nothing of a migration that fails half way', async () => {
    const options = await fresh()
    const short: RecordKind = { ...doors, name: 'tickets' }
    await using({ ...options, kinds: [short], tablePrefix: 'contract_' }, async () => undefined)
    // The table of the second kind is there already, under the name that the prefix makes.
    const clash: RecordKind = { ...doors, name: 'contract-tickets' }
    await expect(kyselyStorage({ ...options, kinds: [doors, clash] })).rejects.toThrow(/already exists/)
    await using({ ...options, kinds: [doors] }, (storage) => insertAll(storage, doors, [{ id: 'd1', name: 'front' }]))
  })

  it('refuses a field whose name can be no column', async () => {
    const options = await fresh()
    await expect(kyselyStorage({ ...options, kinds: [later] })).rejects.toThrow(
      'cannot be the name of a table or column',
    )
  })
}
