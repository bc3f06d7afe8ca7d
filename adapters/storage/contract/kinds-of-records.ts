import { type Filter, parseQuery, type RecordKind, type Storage, type StoredRecord, type SymbolTable } from './core.ts'

/** A record with a field of every kind. */
export interface Machine extends StoredRecord {
  readonly name: string
  readonly serial: string | null
  readonly owner: string | null
  readonly cost: number
  readonly weight: number | null
  readonly active: boolean
  readonly seenAt: number | null
  readonly note: string
  readonly roles: readonly string[]
  readonly tags: Readonly<Record<string, unknown>>
}

/** Something that can be consumed once. */
export interface Ticket extends StoredRecord {
  readonly token: string
  readonly machine: string
  readonly uses: number
}

/** Something that is written down and never changed. */
export interface Entry extends StoredRecord {
  readonly about: string
  readonly place: number
  readonly content: Readonly<Record<string, unknown>>
}

export const machines: RecordKind<Machine> = {
  name: 'contract-machines',
  fields: {
    name: 'string',
    serial: 'string',
    owner: 'string',
    cost: 'integer',
    weight: 'number',
    active: 'boolean',
    seenAt: 'instant',
    note: 'string',
    roles: 'set',
    tags: 'json',
  },
  unique: ['name', 'serial'],
  indexed: ['owner', 'cost', 'active', 'roles'],
}

export const tickets: RecordKind<Ticket> = {
  name: 'contract-tickets',
  fields: { token: 'string', machine: 'string', uses: 'integer' },
  unique: ['token'],
  indexed: ['machine'],
}

export const entries: RecordKind<Entry> = {
  name: 'contract-entries',
  fields: { about: 'string', place: 'integer', content: 'json' },
  unique: [],
  indexed: ['about'],
  searchedJson: [],
  isJournal: true,
}

/** Symbols that filters may name on machines: every field, by its own name. */
const MACHINE_SYMBOLS: SymbolTable = Object.fromEntries([
  ['id', { field: 'id', kind: 'string' }],
  ...Object.entries(machines.fields).map(([field, kind]) => [field, { field, kind }] as const),
])

/** Parses a filter on machines. */
export function where(text: string): Filter {
  return parseQuery(text, MACHINE_SYMBOLS).where ?? { kind: 'all' }
}

export function machine(id: string, fields: Partial<Machine> = {}): Machine {
  return {
    id,
    name: `name of ${id}`,
    serial: null,
    owner: null,
    cost: 0,
    weight: null,
    active: false,
    seenAt: null,
    note: '',
    roles: [],
    tags: {},
    ...fields,
  }
}

export function ticket(id: string, fields: Partial<Ticket> = {}): Ticket {
  return { id, token: `token of ${id}`, machine: 'm1', uses: 0, ...fields }
}

export async function insertAll<T extends StoredRecord>(
  storage: Storage,
  kind: RecordKind<T>,
  records: readonly T[],
): Promise<void> {
  await storage.write(async (tx) => {
    for (const record of records) await tx.collection(kind).insert(record)
  })
}

export async function get<T extends StoredRecord>(
  storage: Storage,
  kind: RecordKind<T>,
  id: string,
): Promise<T | undefined> {
  return storage.read((tx) => tx.collection(kind).get(id))
}

/** All records of a storage of this suite, to compare its states. */
export async function contentOf(storage: Storage): Promise<unknown> {
  return storage.read(async (tx) => ({
    revision: tx.revision,
    changes: await tx.changesSince(0),
    machines: await tx.collection(machines).find(),
    tickets: await tx.collection(tickets).find(),
  }))
}

/** Something that happens once, to wait for. */
export function signal(): { readonly happened: Promise<void>; happen(): void } {
  let happen = () => {}
  const happened = new Promise<void>((resolve) => {
    happen = resolve
  })
  return { happened, happen: () => happen() }
}
