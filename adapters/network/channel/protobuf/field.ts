import { BYTES_WIRE_TYPE, type ProtobufReader } from './reader.ts'
import type { ValueType } from './value-type.ts'
import type { ProtobufWriter } from './writer.ts'

/** One field of a message: its number, how it is written, and how it comes together when it arrives in pieces. */
export interface Field<T> {
  readonly number: number
  /** Makes the value of a message that does not hold the field. */
  empty(): T
  write(writer: ProtobufWriter, value: T): void
  /** Reads the field once; `before` is the value that was read so far. */
  read(reader: ProtobufReader, wireType: number, before: T): T
}

/** A field that holds one value; left out if it holds the default. Of several values on the wire the last counts. */
export function field<T>(number: number, type: ValueType<T>): Field<T> {
  return {
    number,
    empty: () => type.absent,
    write(writer, value) {
      if (type.isAbsent(value)) return
      writer.tag(number, type.wireType)
      type.write(writer, value)
    },
    read(reader, wireType, before) {
      if (wireType === type.wireType) return type.read(reader)
      reader.skip(wireType)
      return before
    },
  }
}

/** A field that holds a message or nothing. */
export function optional<T>(number: number, type: ValueType<T>): Field<T | undefined> {
  const present = field(number, { ...type, isAbsent: () => false })
  return {
    number,
    empty: () => undefined,
    write(writer, value) {
      if (value !== undefined) present.write(writer, value)
    },
    read(reader, wireType, before) {
      if (wireType === type.wireType) return type.read(reader)
      reader.skip(wireType)
      return before
    },
  }
}

/** A field that holds a list, whose numbers may be packed together or not. */
export function repeated<T>(number: number, type: ValueType<T>): Field<readonly T[]> {
  return {
    number,
    empty: () => [],
    write(writer, values) {
      for (const value of values) {
        writer.tag(number, type.wireType)
        type.write(writer, value)
      }
    },
    read(reader, wireType, before) {
      // The list is this reading's own: `empty` made it.
      const values = before as T[]
      if (wireType === type.wireType) {
        reader.member()
        values.push(type.read(reader))
      } else if (wireType === BYTES_WIRE_TYPE) {
        for (const packed = reader.nested(); !packed.isAtEnd; ) {
          packed.member()
          values.push(type.read(packed))
        }
      } else reader.skip(wireType)
      return values
    },
  }
}

/** A field that holds a map: on the wire a list of pairs. */
export function mapOf<K, V>(number: number, keyType: ValueType<K>, valueType: ValueType<V>): Field<ReadonlyMap<K, V>> {
  const [keyField, valueField] = [field(1, keyType), field(2, valueType)]
  return {
    number,
    empty: () => new Map(),
    write(writer, values) {
      for (const [key, value] of values) {
        writer.tag(number, BYTES_WIRE_TYPE)
        writer.nested((inner) => {
          keyField.write(inner, key)
          valueField.write(inner, value)
        })
      }
    },
    read(reader, wireType, before) {
      const values = before as Map<K, V>
      if (wireType !== BYTES_WIRE_TYPE) reader.skip(wireType)
      else {
        reader.member()
        const [key, value] = readPair(reader.nested(), keyField, valueField)
        values.set(key, value)
      }
      return values
    },
  }
}

function readPair<K, V>(reader: ProtobufReader, keyField: Field<K>, valueField: Field<V>): readonly [K, V] {
  let key = keyField.empty()
  let value = valueField.empty()
  while (!reader.isAtEnd) {
    const { number, wireType } = reader.tag()
    if (number === 1) key = keyField.read(reader, wireType, key)
    else if (number === 2) value = valueField.read(reader, wireType, value)
    else reader.skip(wireType)
  }
  return [key, value]
}
