/** The SQLite that is built into Node. Rejects with a message that names the version where there is none. */
export function builtInSqlite(): Promise<typeof import('node:sqlite')> {
  return import('node:sqlite').catch((cause: unknown) => {
    throw new Error(`SQLite needs Node 22.13 or later, this is ${process.version}`, { cause })
  })
}
