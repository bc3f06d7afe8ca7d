/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function seededNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Json = Readonly<Record<string, unknown>>

/** Choices that depend on nothing but the seed. */
export interface Choices {
  below(limit: number): number
  chance(probability: number): boolean
  of<T>(values: readonly [T, ...T[]]): T
}

export function choices(seed: number): Choices {
  const next = seededNumbers(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability) => next() < probability,
    of: ([first, ...others]) => {
      const index = below(others.length + 1)
      return index === 0 ? first : (others[index - 1] ?? first)
    },
  }
}

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '💩'.repeat(50),
  'a'.repeat(5_000),
  '__proto__',
  'constructor',
  'toString',
  "' or 1=1 --",
  '"; drop table identities; --',
  '../../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  '$\u007b7*7}',
  '<script>',
  '(a+)+$',
  '#all',
  '@unknown',
  '@',
  '#',
  'null',
  'NaN',
  '-1',
  '1e999',
  '2026-13-45T99:99:99Z',
  '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
  'tcp:[::1]:99999',
] as const

const HOSTILE_VALUES = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  -(2 ** 63),
  1e308,
  [],
  [[]],
  [null],
  [1, 'a', {}],
  {},
  { a: { b: { c: {} } } },
  { toString: 1, constructor: {}, hasOwnProperty: null },
  { length: -1 },
] as const

export function hostileText(choose: Choices): string {
  return choose.of(HOSTILE_TEXTS)
}

/** A value of no particular type. */
function hostileValue(choose: Choices): unknown {
  return choose.chance(0.5) ? hostileText(choose) : choose.of<unknown>(HOSTILE_VALUES)
}

/**
 * A value that an OpenAPI schema describes, as far as a schema says; with the probability of `mischief` at each place one
 * that it may not describe.
 */
export function valueBy(schema: Json, choose: Choices, words: readonly string[], mischief: number, depth = 0): unknown {
  if (choose.chance(mischief)) return hostileValue(choose)
  const inner = (part: unknown) => valueBy(asJson(part), choose, words, mischief, depth + 1)
  const [first, ...others] = [schema.enum, schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) ?? []
  if (Array.isArray(schema.enum)) return choose.of([first, ...others])
  if (first !== undefined) return inner(choose.of([first, ...others]))
  switch (typeIn(schema)) {
    case 'object':
      return objectOf(schema, choose, inner)
    case 'array':
      return depth > 4 ? [] : Array.from({ length: choose.below(3) }, () => inner(schema.items))
    case 'boolean':
      return choose.chance(0.5)
    case 'integer':
    case 'number':
      return choose.of([0, 1, 5, 100, Number(schema.maximum ?? 7), Number(schema.minimum ?? 0)])
    case 'string':
      return textOf(schema, choose, words)
    default:
      return choose.of<unknown>([{}, 'free', 1, { nested: [1] }])
  }
}

function objectOf(schema: Json, choose: Choices, inner: (part: unknown) => unknown): Json {
  const required = Array.isArray(schema.required) ? schema.required : []
  const members = Object.entries(asJson(schema.properties)).filter(
    ([name]) => required.includes(name) || choose.chance(0.4),
  )
  const free = schema.additionalProperties === undefined ? [] : [['key', inner(schema.additionalProperties)]]
  return Object.fromEntries([...members.map(([name, part]) => [name, inner(part)]), ...free])
}

function textOf(schema: Json, choose: Choices, words: readonly string[]): string {
  if (schema.format === 'date-time') return '2026-06-01T00:00:00.000Z'
  if (schema.format === 'uuid') return '00000000-0000-4000-8000-000000000000'
  return choose.of([`name ${choose.below(1e6)}`, ...words, '#all', 'https://idp.example/x', '/sub'])
}

/** The type that a schema names, which may allow null besides. */
export function typeIn({ type }: Json): unknown {
  return Array.isArray(type) ? type[0] : type
}

export function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
