import assert from 'node:assert/strict'
import { ids } from './core.ts'
import { insertAll, type Machine, machine, machines, where } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const NOON = Date.parse('2024-05-01T12:00:00Z')

const MACHINES: readonly Machine[] = [
  machine('m1', {
    name: 'alpha',
    serial: 'S-1',
    owner: 'ann',
    cost: 1,
    weight: 1.5,
    active: true,
    seenAt: NOON,
    roles: ['blue', 'red'],
    tags: { site: 'north', floor: 3, live: true },
  }),
  machine('m2', { name: 'Beta', owner: 'bob', cost: 2 }),
  machine('m3', {
    name: 'gamma',
    serial: 'S-3',
    owner: 'ann',
    cost: 3,
    weight: -2.25,
    active: true,
    seenAt: NOON + 1000,
    roles: ['red'],
    tags: { site: 'south', note: null, nested: { deep: 'yes' } },
  }),
  machine('m4', { name: '50%_off', serial: '', cost: 3, weight: 0, seenAt: NOON + 2000, roles: ['blue', 'green'] }),
  machine('m5', { name: 'ÄLPHA "quoted" \\ back', owner: 'Ann', cost: -7, tags: { site: 'North', floor: '3' } }),
]

const ALL = MACHINES.map(({ id }) => id)

const FILTERS: readonly [string, readonly string[]][] = [
  ['true', ALL],
  ['false', []],
  ['not true', []],
  ['id = "m3"', ['m3']],
  ['id = "absent"', []],
  ['id != "m3"', ['m1', 'm2', 'm4', 'm5']],
  ['id in ["m4", "m1", "absent", "m4"]', ['m1', 'm4']],
  ['name = "alpha"', ['m1']],
  ['name = "ALPHA"', []],
  ['name in ["gamma", "Beta"]', ['m2', 'm3']],
  ['serial = ""', ['m4']],
  ['serial = null', ['m2', 'm5']],
  ['serial != null', ['m1', 'm3', 'm4']],
  ['owner = "ann"', ['m1', 'm3']],
  ['owner != "ann"', ['m2', 'm4', 'm5']],
  ['owner in ["bob", "Ann"]', ['m2', 'm5']],
  ['owner not in ["ann"]', ['m2', 'm4', 'm5']],
  ['name < "alpha"', ['m2', 'm4']],
  ['name >= "gamma"', ['m3', 'm5']],
  ['name contains "a"', ['m1', 'm2', 'm3', 'm5']],
  ['name icontains "LPH"', ['m1', 'm5']],
  ['name contains "%"', ['m4']],
  ['name contains "0%_o"', ['m4']],
  ['name contains "_"', ['m4']],
  ['name contains "\\"quoted\\""', ['m5']],
  ['name contains "\\\\ b"', ['m5']],
  ['owner not contains "n"', ['m2', 'm4']],
  ['cost = 3', ['m3', 'm4']],
  ['cost in [1, 2]', ['m1', 'm2']],
  ['cost > 2', ['m3', 'm4']],
  ['cost <= 1', ['m1', 'm5']],
  ['cost between 1 and 3', ['m1', 'm2']],
  ['cost not between 1 and 3', ['m3', 'm4', 'm5']],
  ['cost = 3.0', ['m3', 'm4']],
  ['cost < 1.5', ['m1', 'm5']],
  ['weight > -2.5', ['m1', 'm3', 'm4']],
  ['weight = 0', ['m4']],
  ['weight < 100', ['m1', 'm3', 'm4']],
  ['weight != 0', ['m1', 'm2', 'm3', 'm5']],
  ['weight = null', ['m2', 'm5']],
  ['active', ['m1', 'm3']],
  ['not active', ['m2', 'm4', 'm5']],
  ['active = true', ['m1', 'm3']],
  ['active != true', ['m2', 'm4', 'm5']],
  ['seenAt = datetime(2024-05-01T12:00:00Z)', ['m1']],
  ['seenAt > datetime(2024-05-01T14:00:00+02:00)', ['m3', 'm4']],
  ['seenAt between datetime(2024-05-01T12:00:00Z) and datetime(2024-05-01T12:00:02Z)', ['m1', 'm3']],
  ['seenAt = null', ['m2', 'm5']],
  ['anyOf(roles) = "red"', ['m1', 'm3']],
  ['anyOf(roles) != "red"', ['m1', 'm4']],
  ['anyOf(roles) in ["green", "violet"]', ['m4']],
  ['anyOf(roles) in ["blue", "red", "green"]', ['m1', 'm3', 'm4']],
  ['anyOf(roles) = "blue" and anyOf(roles) = "red"', ['m1']],
  ['anyOf(roles) contains "re"', ['m1', 'm3', 'm4']],
  ['allOf(roles) = "red"', ['m2', 'm3', 'm5']],
  ['allOf(roles) != "green"', ['m1', 'm2', 'm3', 'm5']],
  ['count(roles) = 2', ['m1', 'm4']],
  ['count(roles) < 2', ['m2', 'm3', 'm5']],
  ['isEmpty(roles)', ['m2', 'm5']],
  ['not isEmpty(roles)', ['m1', 'm3', 'm4']],
  ['tags.site = "north"', ['m1']],
  ['tags.site != "north"', ['m2', 'm3', 'm4', 'm5']],
  ['tags.site contains "orth"', ['m1', 'm5']],
  ['tags.floor = 3', ['m1']],
  ['tags.live = true', ['m1']],
  ['tags.note = null', ALL],
  ['tags.nested.deep = "yes"', ['m3']],
  ['tags.nested.deep = null', ['m1', 'm2', 'm4', 'm5']],
  ['tags.constructor = null', ALL],
  ['owner = "ann" and cost > 1', ['m3']],
  ['cost > 1 and owner = "ann"', ['m3']],
  ['owner = "ann" or owner = "bob"', ['m1', 'm2', 'm3']],
  ['not (owner = "ann" and active)', ['m2', 'm4', 'm5']],
  ['(owner = "ann" or cost = 3) and (seenAt = null or active)', ['m1', 'm3']],
  ['serial = "S-1" and owner = "bob"', []],
  ['id in ["m1", "m2", "m3"] and owner in ["ann", "bob"] and active = false', ['m2']],
]

export function describeFilters({ it, open }: Suite): void {
  it.each(FILTERS)('finds by %s', async ([text, expected]) => {
    const storage = await open()
    await insertAll(storage, machines, MACHINES.toReversed())
    const { items, totalCount } = await storage.read((tx) => tx.collection(machines).find({ where: where(text) }))
    assert.deepEqual(
      items,
      MACHINES.filter(({ id }) => expected.includes(id)),
    )
    assert.equal(totalCount, expected.length)
  })

  it('finds the same among thousands, whichever way is quickest', async () => {
    const storage = await open()
    const others = Array.from({ length: 3000 }, (_, index) =>
      machine(`x${index}`, { name: `other ${index}`, serial: `X-${index}`, owner: `owner ${index % 7}`, cost: 100 }),
    )
    await insertAll(storage, machines, [...others, ...MACHINES])
    const among = where('cost < 100')
    for (const [text, expected] of FILTERS) {
      const both = { kind: 'and', left: where(text), right: among } as const
      const { items } = await storage.read((tx) => tx.collection(machines).find({ where: both }))
      assert.deepEqual([text, items.map(({ id }) => id)], [text, expected])
    }
  })

  it('finds nothing in a kind that was never written', async () => {
    const storage = await open()
    assert.deepEqual(await storage.read((tx) => tx.collection(machines).find()), { items: [], totalCount: 0 })
    assert.equal(await storage.read((tx) => tx.collection(machines).get('m1')), undefined)
  })

  it.each([0, 1, 3, 2000])('finds by a list of %i ids, in the order of the ids', async (count) => {
    const storage = await open()
    const records = Array.from({ length: 2000 }, (_, index) => machine(`m${10_000 + index}`))
    await insertAll(storage, machines, records)
    const wanted = records.slice(0, count).map(({ id }) => id)
    const list = ids([...wanted.toReversed(), 'absent', ...wanted.slice(0, 5)])
    const found = await storage.read((tx) => tx.collection(machines).find({ where: list, limit: 2 }))
    assert.deepEqual(
      found.items.map(({ id }) => id),
      wanted.slice(0, 2),
    )
    assert.equal(found.totalCount, count)
  })
}
