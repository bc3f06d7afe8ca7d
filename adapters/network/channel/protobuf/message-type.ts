import type { Field } from './field.ts'
import { MOST_MEMBERS, ProtobufReader } from './reader.ts'
import type { ValueType } from './value-type.ts'
import { ProtobufWriter } from './writer.ts'

type Fields = Readonly<Record<string, Field<unknown>>>
type ValueOf<F> = F extends Field<infer T> ? T : never

/** A kind of message (proto3), declared by its fields. */
export interface MessageType<T> extends ValueType<T> {
  /** Fields that are not given are left out. */
  encode(value: Partial<T>): Uint8Array
  /** The message without any field. */
  blank(): T
  /** Throws a `ProtobufError` for an invalid message, or one of more repeated members. Undeclared fields are skipped. */
  decode(bytes: Uint8Array, mostMembers?: number): T
}

/** The values of a declared message. */
export type MessageOf<M> = M extends MessageType<infer T> ? T : never

/** Declares a message by its fields. */
export function message<const F extends Fields>(
  fields: F,
): MessageType<{ readonly [Name in keyof F]: ValueOf<F[Name]> }> {
  type Value = { readonly [Name in keyof F]: ValueOf<F[Name]> }
  const byNumber = new Map(Object.entries(fields).map(([name, declared]) => [declared.number, { name, declared }]))

  const write = (writer: ProtobufWriter, value: Partial<Value>) => {
    for (const { name, declared } of byNumber.values()) {
      const given: unknown = value[name]
      if (given !== undefined) declared.write(writer, given)
    }
  }
  const read = (reader: ProtobufReader): Value => {
    const values: Record<string, unknown> = {}
    for (const { name, declared } of byNumber.values()) values[name] = declared.empty()
    while (!reader.isAtEnd) {
      const { number, wireType } = reader.tag()
      const known = byNumber.get(number)
      if (known === undefined) reader.skip(wireType)
      else values[known.name] = known.declared.read(reader, wireType, values[known.name])
    }
    // Every declared field gave a value of its own type, as the type of the message requires.
    return values as Value
  }
  const blank = () => read(new ProtobufReader(new Uint8Array(0)))
  return {
    wireType: 2,
    absent: blank(),
    isAbsent: () => false,
    write: (writer, value) => writer.nested((inner) => write(inner, value)),
    read: (reader) => read(reader.nested()),
    encode(value) {
      const writer = new ProtobufWriter()
      write(writer, value)
      return writer.finish()
    },
    blank,
    decode: (bytes, members = MOST_MEMBERS) => read(new ProtobufReader(bytes, { members })),
  }
}
