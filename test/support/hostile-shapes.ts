import { type KeyObject, sign } from 'node:crypto'
import { asJson } from './generated-requests.ts'

/** A member that is not there. */
const ABSENT = Symbol('absent')

/** Every type of JSON in the place of another, and what is of the right type and still nothing that anybody expects. */
export const SHAPES: readonly unknown[] = [
  ABSENT,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  '',
  'text',
  '__proto__',
  'a\u0000b',
  '\ud800',
  'x'.repeat(3000),
  [],
  [null],
  [[]],
  [0, 'a', {}],
  ['text'],
  {},
  { text: 1 },
  { toString: 1, length: -1 },
]

/** An object with a member of another shape, or without it. */
function withShape(of: object, member: string, shape: unknown): object {
  const others = Object.fromEntries(Object.entries(of).filter(([name]) => name !== member))
  return shape === ABSENT ? others : { ...others, [member]: shape }
}

/** An object, and each that it becomes when one member has another shape; further members may come as well. */
export function reshaped(of: object, further: readonly string[] = []): readonly (readonly [string, object])[] {
  return [...new Set([...Object.keys(of), ...further])].flatMap((member) =>
    SHAPES.map((shape) => [`${member} ${told(shape)}`, withShape(of, member, shape)] as const),
  )
}

/** A shape as messages of tests name it. */
export function told(shape: unknown): string {
  return shape === ABSENT ? 'absent' : JSON.stringify(shape).slice(0, 40)
}

/** A shape where only text can be: parameters, headers, fields of forms. */
export function asText(shape: unknown): string {
  return typeof shape === 'string' ? shape.toWellFormed() : JSON.stringify(shape)
}

/** A token of any header and claims, signed by a P-256 key or by nobody. */
export function compactJwt(header: unknown, claims: unknown, key?: KeyObject): string {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = key && sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${(signature ?? Buffer.alloc(64, 1)).toString('base64url')}`
}

type Json = Readonly<Record<string, unknown>>

/** The plainest value of a JSON schema, with every member that it names. */
export function plainOf(schema: Json, depth = 0): unknown {
  const [variant] = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) ?? []
  if (variant !== undefined) return plainOf(asJson(variant), depth)
  if (Array.isArray(schema.enum)) return schema.enum[0]
  switch (schema.type) {
    case 'object': {
      const properties = Object.entries(asJson(schema.properties))
      return Object.fromEntries(properties.map(([name, part]) => [name, plainOf(asJson(part), depth + 1)]))
    }
    case 'array':
      return depth > 4 ? [] : [plainOf(asJson(schema.items), depth + 1)]
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    default:
      return schema.format === 'date-time' ? '2026-06-01T00:00:00.000Z' : 'plain'
  }
}

/** Every value that a plain one becomes when one part of it, at any depth, has another shape. */
export function reshapedParts(value: unknown): readonly (readonly [string, unknown])[] {
  const whole = SHAPES.filter((shape) => shape !== ABSENT).map((shape) => [told(shape), shape] as const)
  if (Array.isArray(value)) {
    const [first] = value
    if (first === undefined) return whole
    return [...whole, ...reshapedParts(first).map(([name, part]) => [`0.${name}`, [part]] as const)]
  }
  if (typeof value !== 'object' || value === null) return whole
  const parts = Object.entries(value).flatMap(([member, part]) => [
    [`${member} absent`, withShape(value, member, ABSENT)] as const,
    ...reshapedParts(part).map(([name, shape]) => [`${member}.${name}`, withShape(value, member, shape)] as const),
  ])
  return [...whole, ...parts]
}
