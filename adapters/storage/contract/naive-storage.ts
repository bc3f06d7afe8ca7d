import type { Change, FindQuery } from './core.ts'
import { type Machine, machines } from './kinds-of-records.ts'

/** A question, with what it means spelled out without the filter language. */
export interface Question {
  readonly query: FindQuery
  readonly isMeant: (record: Machine) => boolean
}

/** A storage of machines in the plainest way: a map, searched and sorted whole. */
export class NaiveMachines {
  records = new Map<string, Machine>()
  changes: Change[] = []
  revision = 0

  /** The fields whose values another record holds already. */
  violations(record: Machine): string[] {
    const others = [...this.records.values()].filter(({ id }) => id !== record.id)
    const isTaken = (field: 'name' | 'serial') =>
      record[field] !== null && others.some((other) => other[field] === record[field])
    return (['name', 'serial'] as const).filter(isTaken)
  }

  find({ query, isMeant }: Question): { items: Machine[]; totalCount: number } {
    const matching = [...this.records.values()].filter(isMeant)
    const order = [...(query.orderBy ?? []), { field: 'id', direction: 'asc' }]
    matching.sort((a, b) => {
      for (const { field, direction } of order) {
        const difference = compareValues(Reflect.get(a, field), Reflect.get(b, field))
        if (difference !== 0) return direction === 'asc' ? difference : -difference
      }
      return 0
    })
    const offset = query.offset ?? 0
    const items = matching.slice(offset, query.limit === undefined ? undefined : offset + query.limit)
    return { items, totalCount: matching.length }
  }

  note(id: string, operation: Change['operation']): void {
    this.changes.push({ revision: this.revision + 1, kind: machines.name, id, operation })
  }

  /** Runs `work` on a copy of the records, and keeps the copy when `commits`. */
  async write(commits: boolean, work: (draft: NaiveMachines) => Promise<void>): Promise<void> {
    const draft = new NaiveMachines()
    draft.records = new Map(this.records)
    draft.revision = this.revision
    await work(draft)
    if (!commits || draft.changes.length === 0) return
    this.records = draft.records
    this.changes.push(...draft.changes)
    this.revision += 1
  }
}

function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a !== 'string' || typeof b !== 'string') return Number(a) - Number(b)
  const [left, right] = [codePoints(a), codePoints(b)]
  const different = left.findIndex((point, index) => point !== right[index])
  return different === -1 ? left.length - right.length : (left[different] ?? 0) - (right[different] ?? -1)
}

function codePoints(text: string) {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0)
}
