import assert from 'node:assert/strict'
import type { FindQuery, OrderBy } from './core.ts'
import { insertAll, type Machine, machine, machines, where } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const MACHINES: readonly Machine[] = [
  machine('a', { name: 'z', owner: 'bob', cost: 2, weight: 0.5, active: true, seenAt: 10 }),
  machine('b', { name: '\uff5a', owner: null, cost: 10, weight: null, active: false, seenAt: 9 }),
  machine('c', { name: '\u{1f600}', owner: 'ann', cost: 2, weight: -1, active: true, seenAt: null }),
  machine('d', { name: 'Z', owner: 'bob', cost: -1, weight: null, active: false, seenAt: 100 }),
  machine('e', { name: '', owner: 'Bob', cost: 2, weight: 0.25, active: true, seenAt: 10 }),
]

/** `cost desc, id` */
function order(text: string): OrderBy[] {
  return text.split(', ').map((part) => {
    const [field = '', direction = 'asc'] = part.split(' ')
    return { field, kind: machines.fields[field] ?? 'string', direction: direction === 'desc' ? 'desc' : 'asc' }
  })
}

async function findIds(open: Suite['open'], records: readonly Machine[], query: FindQuery) {
  const storage = await open()
  await insertAll(storage, machines, records)
  const [{ items, totalCount }, ids] = await storage.read(async (tx) => {
    const collection = tx.collection(machines)
    return [await collection.find(query), await collection.findIds(query)]
  })
  assert.deepEqual(
    items.map(({ id }) => id),
    ids,
  )
  return { ids: ids.join(''), totalCount }
}

export function describePages(suite: Suite): void {
  describeOrder(suite)
  describePageBounds(suite)
  describeScans(suite)
}

function describeOrder({ it, open }: Suite): void {
  it.each([
    ['id', 'abcde'],
    ['id desc', 'edcba'],
    ['name', 'edabc'],
    ['name desc', 'cbade'],
    ['owner', 'becad'],
    ['owner desc', 'adceb'],
    ['cost', 'daceb'],
    ['cost desc', 'baced'],
    ['weight', 'bdcea'],
    ['weight desc', 'aecbd'],
    ['active', 'bdace'],
    ['active desc', 'acebd'],
    ['seenAt', 'cbaed'],
    ['seenAt desc', 'daebc'],
    ['active desc, cost, weight desc', 'aecdb'],
    ['owner, cost desc', 'becad'],
    ['owner, id desc', 'becda'],
    ['cost, id desc', 'decab'],
    ['id, cost', 'abcde'],
  ])('orders by %s, nulls first ascending, ties by id', async ([text, expected]) => {
    const found = await findIds(open, MACHINES.toReversed(), { orderBy: order(text) })
    assert.deepEqual(found, { ids: expected, totalCount: 5 })
    const some = await findIds(open, MACHINES, { orderBy: order(text), where: where('name != "Z"'), limit: 3 })
    assert.deepEqual(some, { ids: expected.replace('d', '').slice(0, 3), totalCount: 4 })
  })

  it('orders by id, by code point, when nothing is asked', async () => {
    const ids = ['', '!', '1', '10', '2', 'A', 'a', 'a!', 'aa', 'é', '\uff5a', '\u{1f600}', '\u{1f600}a']
    const storage = await open()
    await insertAll(
      storage,
      machines,
      ids.toReversed().map((id) => machine(id)),
    )
    const { items } = await storage.read((tx) => tx.collection(machines).find())
    assert.deepEqual(
      items.map(({ id }) => id),
      ids,
    )
  })
}

function describePageBounds({ it, open }: Suite): void {
  it.each<[string, FindQuery, string, number]>([
    ['everything', {}, 'abcde', 5],
    ['limit 2', { limit: 2 }, 'ab', 5],
    ['limit 5', { limit: 5 }, 'abcde', 5],
    ['limit 99', { limit: 99 }, 'abcde', 5],
    ['limit 0', { limit: 0 }, '', 5],
    ['offset 0', { offset: 0 }, 'abcde', 5],
    ['offset 3', { offset: 3 }, 'de', 5],
    ['offset 5', { offset: 5 }, '', 5],
    ['offset 99', { offset: 99, limit: 1 }, '', 5],
    ['offset 1 limit 3', { offset: 1, limit: 3 }, 'bcd', 5],
    ['a filter, limit 0', { where: where('cost = 2'), limit: 0 }, '', 3],
    ['a filter, offset 1 limit 1', { where: where('cost = 2'), offset: 1, limit: 1 }, 'c', 3],
    ['a filter that scans, offset 1 limit 1', { where: where('weight > -5'), offset: 1, limit: 1 }, 'c', 3],
    ['a filter, offset past the end', { where: where('cost = 2'), offset: 3 }, '', 3],
    ['an order, limit 0', { orderBy: order('weight'), limit: 0 }, '', 5],
    ['an order, offset 1 limit 3', { orderBy: order('weight'), offset: 1, limit: 3 }, 'dce', 5],
    ['an order by an index, offset 1 limit 3', { orderBy: order('owner'), offset: 1, limit: 3 }, 'eca', 5],
    ['an order, offset past the end', { orderBy: order('weight'), offset: 7 }, '', 5],
    ['all three', { where: where('cost = 2'), orderBy: order('weight desc'), offset: 1, limit: 1 }, 'e', 3],
  ])('answers a page of %s, counting all that matches', async ([_, query, expected, totalCount]) => {
    assert.deepEqual(await findIds(open, MACHINES, query), { ids: expected, totalCount })
  })
}

function describeScans({ it, open }: Suite): void {
  it.each([0, 1, 999, 1000, 1001, 2500])('scans %i records in the order of ids, each once', async (count) => {
    const storage = await open()
    const records = Array.from({ length: count }, (_, index) =>
      machine(index === 0 ? '' : `m${(index * 7919) % 2500}`, { owner: `owner ${index}`, cost: index }),
    )
    await insertAll(storage, machines, records)
    const scanned = await storage.read(async (tx) => {
      const found: [string, string | null][] = []
      for await (const { items, damaged } of tx.collection(machines).scan(['owner'])) {
        assert.equal(damaged, undefined)
        found.push(...items.map(({ id, owner }): [string, string | null] => [id, owner]))
      }
      return found
    })
    const { items } = await storage.read((tx) => tx.collection(machines).find())
    assert.deepEqual(
      scanned,
      items.map(({ id, owner }) => [id, owner]),
    )
    assert.equal(scanned.length, count)
  })

  it('scans what its own write has changed so far', async () => {
    const storage = await open()
    await insertAll(storage, machines, MACHINES)
    await storage.write(async (tx) => {
      const collection = tx.collection(machines)
      await collection.delete('b')
      await collection.insert(machine('bb'))
      const found: string[] = []
      for await (const { items } of collection.scan([])) found.push(...items.map(({ id }) => id))
      assert.deepEqual(found, ['a', 'bb', 'c', 'd', 'e'])
    })
  })

  it('scans a snapshot that no later write disturbs', async () => {
    const storage = await open()
    await insertAll(storage, machines, MACHINES)
    await storage.read(async (tx) => {
      const scan = tx.collection(machines).scan(['owner'])
      await storage.write((later) => later.collection(machines).delete('a'))
      const found: string[] = []
      for await (const { items } of scan) found.push(...items.map(({ id }) => id))
      assert.deepEqual(found, ['a', 'b', 'c', 'd', 'e'])
    })
  })

  it('turns pages without loss or repetition, in any order', async () => {
    const storage = await open()
    const records = Array.from({ length: 2500 }, (_, index) =>
      machine(`m${(index * 7919) % 2500}`, { cost: (index * 31) % 17, weight: index % 3 === 0 ? null : index % 11 }),
    )
    await insertAll(storage, machines, records)
    for (const orderBy of [[], order('cost'), order('cost desc'), order('weight desc, cost')]) {
      const whole = await storage.read((tx) => tx.collection(machines).find({ orderBy }))
      const pages: Machine[] = []
      for (let offset = 0; offset < 2500; offset += 400) {
        const page = await storage.read((tx) => tx.collection(machines).find({ orderBy, offset, limit: 400 }))
        assert.equal(page.totalCount, 2500)
        pages.push(...page.items)
      }
      assert.deepEqual(pages, whole.items)
      assert.equal(new Set(pages.map(({ id }) => id)).size, 2500)
    }
  })
}
