import assert from 'node:assert/strict'
import { get, insertAll, type Machine, machine, machines } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const JSON_VALUES: readonly [string, string][] = [
  ['an empty object', '{}'],
  ['every type of value', '{"text":"x","integer":3,"fraction":-0.125,"yes":true,"no":false,"nothing":null}'],
  ['nested lists and objects', '{"a":[1,[2,[]],{"b":{"c":[null,{}]}}],"d":{}}'],
  ['numbers at the edges', '{"large":9007199254740991,"tiny":5e-324,"huge":1.7976931348623157e308,"below":-1e-7}'],
  [
    'text of any script',
    '{"ключ":"значение","\u{1f600}":"\u{1f469}\u200d\u{1f680}","":"empty key","e\u0301":"\u00e9"}',
  ],
  ['control characters and quotes', '{"text":"\\u0001\\t\\r\\n\\"\'`\\\\ \\u2028 %_ $1 :name ?"}'],
  ['keys that mean something in JavaScript', '{"constructor":1,"toString":"x","hasOwnProperty":null,"length":0}'],
  ['__proto__ as a key', '{"__proto__":{"polluted":true},"a":{"__proto__":"text"}}'],
  ['keys that look like paths', '{"a.b":{"c.d":1},"$.x":2,"[0]":3,"0":4}'],
]

/** A canonical text of a JSON value, which tells own keys such as `__proto__` from inherited ones. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
  return `{${members.sort().join()}}`
}

export function describeValues({ it, open }: Suite): void {
  it.each(JSON_VALUES)('gives back %s', async ([_, text]) => {
    const storage = await open()
    const tags: Machine['tags'] = JSON.parse(text)
    await insertAll(storage, machines, [machine('m1', { tags })])
    const stored = (await get(storage, machines, 'm1'))?.tags
    assert.equal(canonical(stored), canonical(tags))
    assert.equal(Object.getPrototypeOf(stored), Object.prototype)
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })

  it.each<[string, Partial<Machine>]>([
    ['an empty set', { roles: [] }],
    ['a set of one', { roles: ['red'] }],
    ['a set with odd elements', { roles: ['', ' ', '"', "'", ',', '[]', 'null', '{}', 'é', '\u{1f600}'] }],
    ['a large set', { roles: Array.from({ length: 2000 }, (_, index) => `role-${10_000 + index}`) }],
    ['empty text', { name: '', serial: '' }],
    ['text that looks like something else', { name: 'null', serial: '0', owner: 'true' }],
    ['long text', { note: 'é'.repeat(50_000) }],
    ['numbers', { cost: Number.MIN_SAFE_INTEGER, weight: 0.1 + 0.2, seenAt: Number.MAX_SAFE_INTEGER }],
    ['zeros', { cost: 0, weight: 0, seenAt: 0, active: false }],
    ['negative instants', { seenAt: -62_135_596_800_000 }],
    ['nulls', { serial: null, owner: null, weight: null, seenAt: null }],
  ])('gives back %s', async ([_, fields]) => {
    const storage = await open()
    await insertAll(storage, machines, [machine('m1', fields)])
    assert.deepEqual(await get(storage, machines, 'm1'), machine('m1', fields))
    await storage.write((tx) => tx.collection(machines).update(machine('m1')))
    await storage.write((tx) => tx.collection(machines).update(machine('m1', fields)))
    assert.deepEqual((await storage.read((tx) => tx.collection(machines).find())).items, [machine('m1', fields)])
  })

  it.each(['', ' ', '../x', 'a/b', '%', '__proto__', 'constructor', "'; --", '\u{1f600}', 'x'.repeat(256)])(
    'keeps a record under the id %j',
    async (id) => {
      const storage = await open()
      await insertAll(storage, machines, [machine(id, { cost: 1 })])
      assert.deepEqual(await get(storage, machines, id), machine(id, { cost: 1 }))
      assert.equal(await get(storage, machines, `${id} `), undefined)
      assert.equal(await storage.write((tx) => tx.collection(machines).delete(id)), true)
      assert.equal(await get(storage, machines, id), undefined)
    },
  )

  it('cannot be altered through a record that it gave out or took in', async () => {
    const storage = await open()
    const make = () => machine('m1', { roles: ['red'], tags: { site: 'north', nested: { list: [1, { deep: 'x' }] } } })
    const vandalise = (record: Machine | undefined) => {
      const { roles, tags } = record ?? machine('none')
      const nested = Reflect.get(tags, 'nested') ?? {}
      const list = Reflect.get(nested, 'list') ?? []
      if (record !== undefined) Reflect.set(record, 'name', 'altered')
      Reflect.set(roles, 0, 'altered')
      Reflect.set(tags, 'site', 'altered')
      Reflect.deleteProperty(nested, 'list')
      Reflect.set(list, 0, 'altered')
      Reflect.set(list[1] ?? {}, 'deep', 'altered')
    }
    const taken = make()
    await insertAll(storage, machines, [taken])
    vandalise(taken)
    vandalise(await get(storage, machines, 'm1'))
    vandalise((await storage.read((tx) => tx.collection(machines).find())).items[0])
    await storage.write(async (tx) => {
      vandalise(await tx.collection(machines).get('m1'))
      const updated = { ...make(), cost: 1 }
      await tx.collection(machines).update(updated)
      vandalise(updated)
    })
    assert.deepEqual(await get(storage, machines, 'm1'), { ...make(), cost: 1 })
    assert.deepEqual((await storage.read((tx) => tx.collection(machines).find())).items, [{ ...make(), cost: 1 }])
  })
}
