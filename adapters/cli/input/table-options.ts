import type { Setting } from '../settings/setting.ts'
import { UsageError } from '../settings/usage-error.ts'

/** What the tables of a database are called, and where they are. */
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
