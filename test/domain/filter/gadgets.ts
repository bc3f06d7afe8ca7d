import type { SymbolTable } from 'portcullis/storage'

/** Symbols of every kind; some differ from the field behind them, two lead into nested values. */
export const SYMBOLS = {
  id: { field: 'id', kind: 'string' },
  name: { field: 'name', kind: 'string' },
  type: { field: 'typeId', kind: 'string' },
  cost: { field: 'cost', kind: 'integer' },
  load: { field: 'load', kind: 'number' },
  isAdmin: { field: 'isAdmin', kind: 'boolean' },
  createdAt: { field: 'createdAt', kind: 'instant' },
  roleAttributes: { field: 'roleAttributes', kind: 'set' },
  'services.name': { field: 'serviceNames', kind: 'set' },
  tags: { field: 'tags', kind: 'json' },
  'primary.cert.allowed': { field: 'primary.cert.allowed', kind: 'boolean' },
  'primary.updb.maxAttempts': { field: 'primary.updb.maxAttempts', kind: 'integer' },
} as const satisfies SymbolTable

export const NOON = Date.UTC(2024, 4, 1, 12)

/** Three records: one with everything, one with nothing but its name, and one that is empty where it can be. */
export const FULL = {
  id: 'full',
  name: 'Straße 7',
  typeId: 'Device',
  cost: 5,
  load: 1.5,
  isAdmin: true,
  createdAt: NOON,
  roleAttributes: ['blue', 'red'],
  serviceNames: ['web'],
  tags: { site: 'north', floor: 3, live: true, none: null, deep: { er: 'yes' }, list: ['a'], 'my-key': 'k' },
  primary: { cert: { allowed: true }, updb: { maxAttempts: 3 } },
}
const NULLS = { id: 'nulls', name: 'null', typeId: null, cost: null, load: null, isAdmin: null }
const EMPTY = {
  id: 'empty',
  name: '',
  typeId: '',
  cost: 0,
  load: 0,
  isAdmin: false,
  createdAt: 0,
  roleAttributes: [],
  serviceNames: [],
  tags: {},
  primary: { cert: { allowed: false }, updb: { maxAttempts: 0 } },
}
export const RECORDS: readonly Readonly<Record<string, unknown>>[] = [FULL, NULLS, EMPTY]
