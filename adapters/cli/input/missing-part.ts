const KEEP_NOTHING = 'or choose --storage memory, which keeps nothing beyond the process'

/** What to do about an error of an import: a package that was not installed, or a Node without SQLite; else undefined. */
export function missingPart(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.cause !== undefined) return missingPart(error.cause)
  const code: unknown = Reflect.get(error, 'code')
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') {
    return `it needs Node 22.13 or later, this is ${process.version}: run a later one, ${KEEP_NOTHING}`
  }
  const [, name] = (code === 'ERR_MODULE_NOT_FOUND' && /^Cannot find package '([^']+)'/.exec(error.message)) || []
  return name && `it needs the package ${name}: run \`npm install ${name}\`, ${KEEP_NOTHING}`
}
