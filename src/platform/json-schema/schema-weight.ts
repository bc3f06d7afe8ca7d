import { targetOf } from './schema-references.ts'

/** Characters of a schema as written. */
const MAX_LENGTH = 65_536
/** Nesting levels of a schema as written. */
const MAX_DEPTH = 64
/** Characters of a schema with every reference expanded. */
const MAX_WEIGHT = 1_000_000

/** A schema that is too expensive, or has an unresolvable reference. The message says which. */
export class UnusableSchema extends Error {}

/**
 * Weighs a schema: its characters with every reference expanded and every counted repetition of a pattern repeated. Throws {@link
 * UnusableSchema} for a schema that is too long, too deep or too heavy, that refers to another document, or that refers to itself, since
 * validation by such a schema may take exponential time.
 */
export function weightOfSchema(schema: object): number {
  if (JSON.stringify(schema).length > MAX_LENGTH) throw new UnusableSchema(`longer than ${MAX_LENGTH} characters`)
  if (Object.hasOwn(schema, '$async')) throw new UnusableSchema('$async is not a keyword')
  const known = new Map<object, number>()
  const open = new Set<object>()

  function weigh(node: unknown, key: string, depth: number): number {
    if (depth > MAX_DEPTH) throw new UnusableSchema(`nested deeper than ${MAX_DEPTH} levels`)
    if (typeof node === 'string') {
      if (key === '$ref') return weigh(targetAt(node), '', depth + 1)
      return key === 'pattern' ? weightOfPattern(node) : node.length
    }
    if (typeof node !== 'object' || node === null) return 1
    const memo = known.get(node)
    if (memo !== undefined) return memo
    if (open.has(node)) throw new UnusableSchema('references that lead back to themselves are not supported')
    open.add(node)
    let weight = 1
    for (const [name, member] of Object.entries(node)) {
      weight += (key === 'patternProperties' ? weightOfPattern(name) : name.length) + weigh(member, name, depth + 1)
      if (weight > MAX_WEIGHT) throw new UnusableSchema(`longer than ${MAX_WEIGHT} characters with references resolved`)
    }
    open.delete(node)
    known.set(node, weight)
    return weight
  }

  function targetAt(reference: string): unknown {
    const target = targetOf(schema, reference)
    if (target === undefined) throw new UnusableSchema(`can't resolve reference ${reference}`)
    return target
  }

  return weigh(schema, '', 0)
}

function weightOfPattern(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g)].map(([, from, to]) => Number(to || from) + 1)
  return (
    pattern.length *
    Math.min(
      counts.reduce((product, count) => product * count, 1),
      1000,
    )
  )
}
