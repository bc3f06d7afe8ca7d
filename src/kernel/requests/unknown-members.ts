import { z } from 'zod'
import { didYouMean } from '../../base/arguments.ts'
import { invalidField } from '../../base/errors.ts'
import { mayHoldMore, required } from '../declaration/fields.ts'

type Path = readonly (string | number)[]

/**
 * Refuses a body that holds a member which its schema does not know, at any depth. Maps hold what they like, and a body
 * of another form than the schema's is left to validation. Error: `COULD_NOT_VALIDATE` with the path of the member as the field.
 */
export function requireKnownMembers(schema: z.core.$ZodType, body: unknown): void {
  const unknown = unknownMember(schema, body, [])
  if (unknown === undefined) return
  const field = unknown.path.join('.')
  // A password may stand under a name that was meant to be `password`: the value is not shown.
  throw invalidField(field, `${field} in body is unknown${unknown.meant}`, '')
}

/** A member that is not known, and the name that is most like its own, for people. */
interface UnknownMember {
  readonly path: Path
  readonly meant: string
}

function unknownMember(schema: z.core.$ZodType, value: unknown, path: Path): UnknownMember | undefined {
  const inner = schema instanceof z.ZodType ? required(schema) : schema
  if (inner instanceof z.ZodArray) return firstOf(listed(value), () => inner.element, path)
  if (inner instanceof z.ZodDiscriminatedUnion) {
    const variant = variantOf(inner, value)
    return variant && unknownMember(variant, value, path)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (inner instanceof z.ZodRecord) return firstOf(Object.entries(value), () => inner.valueType, path)
  if (!(inner instanceof z.ZodObject) || mayHoldMore(inner)) return undefined
  const { shape } = inner
  const name = Object.keys(value).find((member) => !Object.hasOwn(shape, member))
  if (name !== undefined) return { path: [...path, name], meant: didYouMean(name, Object.keys(shape)) }
  return firstOf(Object.entries(value), (member) => shape[member], path)
}

/** The first unknown member inside of some members or elements. */
function firstOf<Key extends string | number>(
  entries: Iterable<readonly [Key, unknown]>,
  schemaOf: (key: Key) => z.core.$ZodType | undefined,
  path: Path,
): UnknownMember | undefined {
  for (const [key, value] of entries) {
    const schema = schemaOf(key)
    const found = schema && unknownMember(schema, value, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

function listed(value: unknown): Iterable<readonly [number, unknown]> {
  return Array.isArray(value) ? value.entries() : []
}

/** The variant that a value says it is; undefined for none, which validation refuses. */
function variantOf(union: z.ZodDiscriminatedUnion, value: unknown): z.core.$ZodType | undefined {
  const { discriminator } = union.def
  const given: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, discriminator) : undefined
  return union.options.find((option) => saysOf(option, discriminator, given))
}

function saysOf(option: z.core.$ZodType, discriminator: string, given: unknown): boolean {
  if (option instanceof z.ZodDiscriminatedUnion) return option.options.some((one) => saysOf(one, discriminator, given))
  const declared = option instanceof z.ZodObject ? option.shape[discriminator] : undefined
  return declared !== undefined && z.safeParse(declared, given).success
}

/**
 * A body without the members that are null where they may as well be left out, at any depth: generated clients write null
 * for what they were not given, and forms an empty choice where there is a default. Members of maps, whose
 * names no declaration knows, keep their nulls.
 */
export function withoutUnsent(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = schema instanceof z.ZodType ? required(schema) : schema
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((element) => withoutUnsent(inner.element, element))
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const declared = Object.hasOwn(inner.shape, name) ? inner.shape[name] : undefined
    if (declared === undefined) return [[name, member]]
    const isUnsent = (member === null && mayBeLeftOut(declared)) || (member === '' && isDefaultedChoice(declared))
    return isUnsent ? [] : [[name, withoutUnsent(declared, member)]]
  })
  return Object.fromEntries(members)
}

function mayBeLeftOut(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, undefined).success
}

/** One of a few words, of which one stands where none is given. */
function isDefaultedChoice(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodDefault && required(schema) instanceof z.ZodEnum
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
