import { type Setting, UsageError } from '../command-line/usage.ts'

/** The options of commands that work on a storage which others may be serving. */
export const STORAGE_OPTIONS = {
  storage: {
    value: 'STORAGE',
    variable: true,
    summary: 'sqlite:FILE or postgres://…; default sqlite:.portcullis/portcullis.sqlite',
  },
  'table-prefix': { value: 'TEXT', variable: true, summary: 'stands before the names of the tables' },
  schema: { value: 'NAME', variable: true, summary: 'PostgreSQL schema of the tables' },
} as const

/** The names of the tables of a database, and where they are. */
export interface TableOptions {
  readonly tablePrefix?: string
  /** PostgreSQL alone has them. */
  readonly schema?: string
}

/** The names of tables in settings, for a storage such as `sqlite:FILE`. Throws {@link UsageError}. */
export function readTables(
  storage: string,
  { prefix, schema }: { readonly prefix: Setting | undefined; readonly schema: Setting | undefined },
): TableOptions {
  if (schema !== undefined && !/^postgres(ql)?:/.test(storage)) {
    throw new UsageError(`${schema.name} is for a storage postgres://…`)
  }
  return {
    ...(prefix !== undefined && { tablePrefix: identifier(prefix) }),
    ...(schema !== undefined && { schema: identifier(schema) }),
  }
}

function identifier({ name, value }: Setting): string {
  if (/^[a-z_][a-z0-9_]{0,23}$/.test(value)) return value
  throw new UsageError(`${name} takes lower-case letters, digits and underscores, at most 24, not '${value}'`)
}
