import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ModelError } from '../model/index.ts'

/** The text of a model file. Rejects with {@link ModelError} when it cannot be read. */
export async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw ModelError.ofFile(file, whyUnreadable(file, error))
  }
}

function whyUnreadable(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // A relative name means another file in another folder: the usual reason for a missing file.
  if (code === 'ENOENT')
    return `there is no such file in ${dirname(resolve(file))}: check the name, or begin in another folder`
  if (code === 'EISDIR') return 'is a folder: name a file in it'
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
}
