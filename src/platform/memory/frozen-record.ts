import type { StoredRecord } from '../../ports/record-storage.ts'

/** A record as the tables hold it: immutable through and through, its fields readable by name. */
export type FrozenRecord = StoredRecord & Readonly<Record<string, unknown>>

/** A deeply frozen copy of `record`, so that neither the writer's object nor any reader's can alter what is stored. */
export function freezeRecord(record: StoredRecord): FrozenRecord {
  return Object.freeze({ ...freezeMembers(record), id: record.id })
}

function freezeValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(freezeValue))
  return Object.freeze(freezeMembers(value))
}

function freezeMembers(value: object): Record<string, unknown> {
  // A spread makes every key an own property first, so assigning to a key named `__proto__` reaches no prototype.
  const copy: Record<string, unknown> = { ...value }
  for (const key of Object.keys(copy)) {
    const member = copy[key]
    if (typeof member === 'object' && member !== null) copy[key] = freezeValue(member)
  }
  return copy
}
