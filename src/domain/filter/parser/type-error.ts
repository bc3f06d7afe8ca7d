import type { Token } from '../tokens/token.ts'
import type { FieldKind } from '../tree/ast.ts'
import { FilterError } from '../tree/filter-error.ts'

/** The kinds of values by the names that filter errors use. */
const TYPE_NAMES: Readonly<Record<FieldKind, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'bool',
  instant: 'date',
  set: 'string',
  json: 'any',
}

const VALUES: Readonly<Record<FieldKind, string>> = {
  string: 'a string',
  integer: 'a number',
  number: 'a number',
  boolean: 'true or false',
  instant: 'datetime(…)',
  set: 'a string',
  json: 'a string, a number, true or false',
}

/** The error of an operator between a symbol and a value that cannot be compared with it. */
export function unsupported(
  operator: string,
  { name, kind }: { readonly name: string; readonly kind: FieldKind },
  value: Token,
): FilterError {
  const given = { number: 'number', string: 'string', datetime: 'date' }[String(value.kind)] ?? 'bool'
  const types = `${TYPE_NAMES[kind]}, ${given}`
  const place = `(symbol '${name}', value at column: ${value.at}, expected ${VALUES[kind]})`
  return new FilterError('type', `operation ${operator} is not supported with operands types ${types} ${place}`)
}
