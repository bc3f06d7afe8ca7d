import type { ProtobufReader } from './reader.ts'
import type { ProtobufWriter } from './writer.ts'

/** The wire form of values of one type, and the default for an absent value. */
export interface ValueType<T> {
  readonly wireType: 0 | 1 | 2
  /** The value that proto3 leaves out; undefined where absence means something else. */
  readonly absent: T
  isAbsent(value: T): boolean
  write(writer: ProtobufWriter, value: T): void
  read(reader: ProtobufReader): T
}

function scalar<T>(
  wireType: 0 | 1 | 2,
  absent: T,
  write: (writer: ProtobufWriter, value: T) => void,
  read: (reader: ProtobufReader) => T,
): ValueType<T> {
  return { wireType, absent, isAbsent: (value) => value === absent, write, read }
}

export const TEXT = scalar(
  2,
  '',
  (writer, value) => writer.text(value),
  (reader) => reader.text(),
)

/** Whole numbers from 0 to 2^53, of any unsigned type of the wire. */
export const COUNT = scalar(
  0,
  0,
  (writer, value) => writer.varint(value),
  (reader) => reader.varint(),
)

/** Signed 32 and 64 bits that fit a number. */
export const INTEGER = scalar(
  0,
  0,
  (writer, value) => writer.bigVarint(BigInt(Math.trunc(value))),
  (reader) => Number(BigInt.asIntN(64, reader.bigVarint())),
)

/** Signed 64 bits, exactly. */
export const INT64 = scalar(
  0,
  0n,
  (writer, value) => writer.bigVarint(value),
  (reader) => BigInt.asIntN(64, reader.bigVarint()),
)

export const BOOL = scalar(
  0,
  false,
  (writer, value) => writer.varint(value ? 1 : 0),
  (reader) => reader.varint() !== 0,
)

export const DOUBLE = scalar(
  1,
  0,
  (writer, value) => writer.double(value),
  (reader) => reader.double(),
)

export const BYTES: ValueType<Uint8Array> = {
  wireType: 2,
  absent: new Uint8Array(0),
  isAbsent: ({ length }) => length === 0,
  write: (writer, value) => writer.bytes(value),
  read: (reader) => reader.bytes().slice(),
}

/** Names of the numbers from 0 on; a number beyond them reads as the first. */
export function enumeration<const Names extends readonly [string, ...string[]]>(
  ...names: Names
): ValueType<Names[number]> {
  return scalar<Names[number]>(
    0,
    names[0],
    (writer, value) => writer.varint(names.indexOf(value)),
    (reader) => names[reader.varint()] ?? names[0],
  )
}
