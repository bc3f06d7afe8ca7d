/** What the system calls the error, such as `ENOENT`; undefined for an error that is not the system's. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Why something failed, for people: the system's errors in words, without the path that the caller names anyway. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error)
  const words = code === undefined ? undefined : REASONS.get(code)
  return words ?? (error instanceof Error ? error.message : String(error))
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ENOENT', 'there is no such file or directory'],
  ['EISDIR', 'it is a directory'],
  ['ENOTDIR', 'it, or a part of its path, is not a directory'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
])
