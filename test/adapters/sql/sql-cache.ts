import type { Dialect } from 'kysely'
import type { Storage } from 'portcullis'
import { kyselyStorage } from 'portcullis/kysely'
import type { HistoryPoint, ReadOptions, ReadTransaction } from 'portcullis/storage'
import { expect, it } from 'vitest'
import {
  get,
  insertAll,
  type Machine,
  machine,
  machines,
  signal,
  tickets,
  where,
} from '../../../adapters/storage/contract/kinds-of-records.ts'
import { watchedDialect } from '../../support/watched-dialect.ts'
import { describeInterleavings } from './sql-cache.property.ts'
import { describeCacheRoom } from './sql-cache-room.ts'
import { describeCachedWrites } from './sql-cached-writes.ts'
import { describeDeferredReads } from './sql-deferred-reads.ts'

/** A database that is empty, and a way to do what no storage does. */
export interface CachedDatabase {
  readonly dialect: () => Dialect
  /** Runs a statement past every storage. */
  execute(statement: string): Promise<void>
}

const kinds = [machines, tickets]

/** Keeps where the database stands; what it answers takes it back there past every storage, with a statement on the records. */
async function keepState(execute: CachedDatabase['execute']) {
  for (const table of ['state', 'changes'])
    await execute(`create table kept_${table} as select * from storage_${table}`)
  return async (statement: string) => {
    for (const table of ['state', 'changes']) {
      await execute(`delete from storage_${table}`)
      await execute(`insert into storage_${table} select * from kept_${table}`)
    }
    await execute(statement)
  }
}

/** Each way to ask for a machine by its name, which a cache may answer. */
const WAYS: readonly [string, (tx: ReadTransaction) => Promise<Machine | undefined>][] = [
  ['its id', (tx) => tx.collection(machines).get('m1')],
  ['a filter on its id', async (tx) => (await tx.collection(machines).find({ where: where('id = "m1"') })).items[0]],
  [
    'a list of ids',
    async (tx) => (await tx.collection(machines).find({ where: where('id in ["none", "m1", "m2"]') })).items[0],
  ],
  [
    'a unique field',
    async (tx) => (await tx.collection(machines).find({ where: where('serial = "S-1"'), limit: 1 })).items[0],
  ],
  ['an indexed field', async (tx) => (await tx.collection(machines).find({ where: where('owner = "O"') })).items[0]],
  [
    'a list of values of an indexed field',
    async (tx) => (await tx.collection(machines).find({ where: where('owner in ["O", "P"]') })).items[0],
  ],
  [
    'a list of values of a unique field',
    async (tx) => (await tx.collection(machines).find({ where: where('serial in ["S-1", "S-2"]') })).items[0],
  ],
]

/** Each way to read: at once from a snapshot, or from one that is put off. */
const MODES: readonly ReadOptions[] = [{}, { mayBeginAgain: true }]
const READS = MODES.flatMap((mode) => WAYS.map(([name, ask]) => [name, mode, ask] as const))

/** Declares the tests of what a storage keeps in memory: it is never behind what is committed, and never ahead of a snapshot. */
export function describeCache(fresh: () => Promise<CachedDatabase>): void {
  async function twoStorages() {
    const { dialect, execute } = await fresh()
    const one = await kyselyStorage({ dialect, kinds })
    const two = await kyselyStorage({ dialect, kinds })
    return { one, two, execute, close: () => Promise.all([one.close(), two.close()]) }
  }

  it.each(READS)(
    'shows by %s (%o) what another storage has just inserted, changed and deleted',
    async (_, mode, ask) => {
      const { one, two, close } = await twoStorages()
      for (let round = 1; round <= 10; round += 1) {
        const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one]
        const look = () => Promise.all([writer.read(ask, mode), reader.read(ask, mode)])
        expect(await look()).toEqual([undefined, undefined])
        const first = machine('m1', { serial: 'S-1', owner: 'O', cost: round })
        await insertAll(writer, machines, [first])
        expect(await look()).toEqual([first, first])
        const second = { ...first, note: 'changed' }
        await writer.write((tx) => tx.collection(machines).update(second))
        expect(await look()).toEqual([second, second])
        await writer.write((tx) => tx.collection(machines).delete('m1'))
      }
      await close()
    },
  )

  it('follows a unique value from one record to another', async () => {
    const { one, two, close } = await twoStorages()
    const holder = async () =>
      (await two.read((tx) => tx.collection(machines).find({ where: where('serial = "S"') }))).items
    const m1 = machine('m1', { serial: 'S' })
    await insertAll(one, machines, [m1, machine('m2')])
    expect(await holder()).toEqual([m1])
    const m2 = machine('m2', { serial: 'S' })
    await one.write(async (tx) => {
      await tx.collection(machines).update({ ...m1, serial: null })
      await tx.collection(machines).update(m2)
    })
    expect(await holder()).toEqual([m2])
    expect(await get(two, machines, 'm1')).toEqual({ ...m1, serial: null })
    await close()
  })

  it.each([
    ['some', 5],
    ['very many', 1100],
  ])('catches up after %s commits of another storage during which nobody read from it', async (_, commits) => {
    const { one, two, close } = await twoStorages()
    const all = [machine('m1'), machine('m2'), machine('m3')]
    await insertAll(one, machines, all)
    for (const { id } of all) await get(two, machines, id)
    await one.write((tx) => tx.collection(machines).delete('m3'))
    const work = Array.from({ length: commits }, (_, index) =>
      one.write((tx) => tx.collection(machines).update(machine('m1', { cost: index + 1 }))),
    )
    await Promise.all(work)
    const seen = await two.read(async (tx) => [
      await tx.collection(machines).get('m1'),
      await tx.collection(machines).get('m2'),
      await tx.collection(machines).get('m3'),
    ])
    expect(seen).toEqual([machine('m1', { cost: commits }), machine('m2'), undefined])
    await close()
  })

  it.each(WAYS)('shows a read by %s its own snapshot, however far others have gone', async (_, ask) => {
    const { one, two, close } = await twoStorages()
    const before = machine('m1', { serial: 'S-1', owner: 'O', cost: 1 })
    const after = machine('m1', { serial: 'S-1', owner: 'O', cost: 2 })
    await insertAll(one, machines, [before])
    const begun = signal()
    const written = signal()
    // It asks for the first time when newer reads of the same storage have already seen the change.
    const late = two.read(async (tx) => {
      begun.happen()
      await written.happened
      return [tx.revision, await ask(tx), await ask(tx)]
    })
    await begun.happened
    await one.write((tx) => tx.collection(machines).update(after))
    expect([await two.read(ask), await one.read(ask)]).toEqual([after, after])
    written.happen()
    expect(await late).toEqual([1, before, before])
    expect([await two.read(ask), await two.read(ask)]).toEqual([after, after])
    await close()
  })

  it('shows a read its own snapshot when others have gone further while it was catching up', async () => {
    const { dialect } = await fresh()
    const [reached, resumed] = [signal(), signal()]
    let isPausing = false
    const paused = () =>
      watchedDialect(dialect(), async ({ sql }) => {
        if (!isPausing || !/^select revision, kind/.test(sql)) return
        isPausing = false
        reached.happen()
        await resumed.happened
      })
    const storage = await kyselyStorage({ dialect: paused, kinds })
    // A storage need not catch up with its own writes.
    const other = await kyselyStorage({ dialect, kinds })
    const change = (id: string, cost: number) =>
      other.write((tx) => tx.collection(machines).update(machine(id, { cost })))
    await insertAll(storage, machines, [machine('m1'), machine('m2')])
    expect(await get(storage, machines, 'm1')).toEqual(machine('m1'))
    await change('m1', 1)
    isPausing = true
    const late = get(storage, machines, 'm2')
    await reached.happened
    await change('m2', 2)
    expect(await get(storage, machines, 'm2')).toEqual(machine('m2', { cost: 2 }))
    resumed.happen()
    expect(await late).toEqual(machine('m2'))
    expect(await get(storage, machines, 'm1')).toEqual(machine('m1', { cost: 1 }))
    expect(await get(storage, machines, 'm2')).toEqual(machine('m2', { cost: 2 }))
    await storage.close()
    await other.close()
  })

  it('shows the older state of a database that was put back', async () => {
    const { one, execute, close } = await twoStorages()
    await insertAll(one, machines, [machine('m1', { cost: 1 })])
    await one.write((tx) => tx.collection(machines).update(machine('m1', { cost: 2 })))
    expect(await get(one, machines, 'm1')).toEqual(machine('m1', { cost: 2 }))
    await execute(`update contract_machines set cost = 1 where id = 'm1'`)
    await execute('delete from storage_changes where revision > 1')
    await execute('update storage_state set revision = 1')
    expect(await get(one, machines, 'm1')).toEqual(machine('m1', { cost: 1 }))
    await one.write((tx) => tx.collection(machines).update(machine('m1', { cost: 3 })))
    expect(await get(one, machines, 'm1')).toEqual(machine('m1', { cost: 3 }))
    await close()
  })

  it.each(READS)(
    'shows by %s (%o) what is there when the database lost a commit and counted it again',
    async (_, mode, ask) => {
      for (const furtherCommits of [0, 1]) {
        const { dialect, execute } = await fresh()
        const one = await kyselyStorage({ dialect, kinds })
        const [kept, lost] = [1, 2].map((cost) => machine('m1', { serial: 'S-1', owner: 'O', cost }))
        if (kept === undefined || lost === undefined) throw new Error('no machines')
        await insertAll(one, machines, [kept])
        const putBack = await keepState(execute)
        await one.write((tx) => tx.collection(machines).update(lost))
        expect([await one.read(ask, mode), await one.read(ask, mode)]).toEqual([lost, lost])
        await putBack('update contract_machines set cost = 1')
        // Of all that happens from here on the first storage reads nothing.
        const two = await kyselyStorage({ dialect, kinds })
        await insertAll(two, machines, [machine('m3')])
        for (let count = 0; count < furtherCommits; count += 1) await insertAll(two, machines, [machine('m4')])
        expect(await one.read(ask, mode)).toEqual(kept)
        expect(await get(one, machines, 'm3')).toEqual(machine('m3'))
        expect(await one.write((tx) => tx.collection(machines).get('m1'))).toEqual(kept)
        await Promise.all([one.close(), two.close()])
      }
    },
  )

  it('sends who follows the feed back to the start when the commit that it saw is another one by now', async () => {
    const { dialect, execute } = await fresh()
    const one = await kyselyStorage({ dialect, kinds })
    const place = () => one.read(async ({ revision, line }) => ({ revision, line }))
    await insertAll(one, machines, [machine('m1')])
    const before = await place()
    const putBack = await keepState(execute)
    await insertAll(one, machines, [machine('m2')])
    const lost = await place()
    await putBack("delete from contract_machines where id = 'm2'")
    const two = await kyselyStorage({ dialect, kinds })
    for (const id of ['m3', 'm4']) await insertAll(two, machines, [machine(id)])
    const since = ({ revision, line }: HistoryPoint) => one.read((tx) => tx.changesSince(revision, line))
    expect(await since(lost)).toBeUndefined()
    expect((await since(before))?.map(({ id }) => id)).toEqual(['m3', 'm4'])
    expect((await since({ revision: lost.revision }))?.map(({ id }) => id)).toEqual(['m4'])
    await Promise.all([one.close(), two.close()])
  })

  it('compares by their revisions alone the commits of a release that knew no lines', async () => {
    const { dialect, execute } = await fresh()
    const one = await kyselyStorage({ dialect, kinds })
    await insertAll(one, machines, [machine('m1')])
    await execute("update contract_machines set cost = 1 where id = 'm1'")
    await execute(
      "insert into storage_changes (revision, position, kind, id, operation) values (2, 0, 'contract-machines', 'm1', 'update')",
    )
    await execute('update storage_state set revision = 2, forgotten = 0 where id = 1')
    const seen = await one.read(async ({ revision, line }) => ({ revision, line }))
    expect(await get(one, machines, 'm1')).toEqual(machine('m1', { cost: 1 }))
    await insertAll(one, machines, [machine('m2')])
    const told = await one.read((tx) => tx.changesSince(seen.revision, seen.line))
    expect(told?.map(({ id }) => id)).toEqual(['m2'])
    await one.close()
  })

  it.each<[string, (storage: Storage) => Promise<unknown>]>([
    ['read', (storage) => storage.read((tx) => tx.collection(tickets).get('none'))],
    ['write', (storage) => storage.write((tx) => tx.collection(tickets).delete('none'))],
  ])('trusts nothing that it knew before a %s found the database away', async (_, use) => {
    const { dialect, execute } = await fresh()
    let isAway = false
    const watched = () =>
      watchedDialect(dialect(), () => {
        if (isAway) throw Object.assign(new Error('away'), { errcode: 10 })
      })
    const storage = await kyselyStorage({ dialect: watched, kinds })
    await insertAll(storage, machines, [machine('m1', { cost: 1 })])
    expect(await get(storage, machines, 'm1')).toEqual(machine('m1', { cost: 1 }))
    isAway = true
    await expect(use(storage)).rejects.toMatchObject({ reason: 'unreachable' })
    isAway = false
    // Another database of the same revision comes back.
    await execute(`update contract_machines set cost = 2 where id = 'm1'`)
    expect(await get(storage, machines, 'm1')).toEqual(machine('m1', { cost: 2 }))
    await storage.close()
  })

  describeCacheRoom(fresh)
  describeDeferredReads(fresh)
  describeCachedWrites(fresh)
  describeInterleavings(async () => {
    const { dialect } = await fresh()
    return (options): Promise<Storage> => kyselyStorage({ ...options, dialect, kinds })
  })
}
