import { describe, expect, it } from 'vitest'
// Internals: the grouping alone, compared with an oracle over random networks.
import { ClassTable } from '../../src/facts/insight/graph/classes.rules.ts'
import { type GraphPolicy, type GroupedKind, RolePolicies } from '../../src/facts/insight/graph/role-policies.rules.ts'
import { Partition } from '../../src/insight/reach/partition.ts'

const PEOPLE = [
  ['anna', ['staff', 'berlin']],
  ['ben', ['staff']],
  ['guest', []],
] as const

function policy(id: string, from: readonly string[], more: Partial<GraphPolicy> = {}): GraphPolicy {
  return { id, name: id, type: 'Dial', semantic: 'AnyOf', from, to: ['#books'], isGuarded: false, ...more }
}

function done<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** A network whose identities have the classes of a table, as of some policies. */
function network(policies: readonly GraphPolicy[], table: ClassTable, before?: Partition): Partition {
  const kinds = new Map([['identities' as GroupedKind, table.current]])
  return new Partition({ policies, place: { revision: 1 } }, kinds, before)
}

function tableOf(policies: readonly GraphPolicy[]): ClassTable {
  const table = new ClassTable(new RolePolicies(policies, 'identities'))
  done(table.put(PEOPLE))
  return table
}

describe('what is kept of a view when policies change', () => {
  it('is the classes that they select as before, and the groups made of these', () => {
    const before = [policy('one', ['#staff']), policy('two', ['#berlin'])]
    const table = tableOf(before)
    const first = network(before, table)
    const classes = table.current
    const after = [policy('one', ['#staff'], { to: ['#other'] }), policy('two', ['#berlin'])]
    done(table.select(new RolePolicies(after, 'identities')))
    expect(table.current).toBe(classes)
    expect(network(after, table, first).sides.get('identities')).toBe(first.sides.get('identities'))
  })

  it('is no group where a policy grants another kind of access, or selects others', () => {
    const before = [policy('one', ['#staff']), policy('two', ['#berlin'])]
    const table = tableOf(before)
    const first = network(before, table)
    const bind = [policy('one', ['#staff'], { type: 'Bind' }), policy('two', ['#berlin'])]
    done(table.select(new RolePolicies(bind, 'identities')))
    expect(network(bind, table, first).sides.get('identities')).not.toBe(first.sides.get('identities'))
    const others = [policy('one', ['#berlin']), policy('two', ['#berlin'])]
    done(table.select(new RolePolicies(others, 'identities')))
    expect(network(others, table, first).sides.get('identities')).not.toBe(first.sides.get('identities'))
  })

  it('selects by more policies than a word has bits, in order and each once', () => {
    const many = Array.from({ length: 100 }, (_, at) =>
      policy(`p${at}`, at % 3 === 0 ? ['#staff', '#berlin'] : ['#no']),
    )
    const all = [...many, policy('everybody', ['#all']), policy('both', ['#staff', '#berlin'], { semantic: 'AllOf' })]
    const selecting = (attributes: readonly string[]) => new RolePolicies(all, 'identities').selecting(attributes)
    const thirds = Array.from({ length: 34 }, (_, at) => at * 3)
    expect(selecting(['staff', 'berlin'])).toEqual([...thirds, 100, 101])
    expect(selecting(['berlin'])).toEqual([...thirds, 100])
    expect(selecting([])).toEqual([100])
  })
})
