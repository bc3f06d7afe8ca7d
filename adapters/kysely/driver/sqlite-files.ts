import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Read and write for the owner alone: databases hold one-time tokens. */
const OWNER_ONLY = 0o600

/** Makes an empty file that only its owner may read, where there is none; a file that is there keeps its mode. */
export async function createPrivateFile(file: string): Promise<void> {
  const created = await open(file, 'a', OWNER_ONLY)
  await created.close()
}

const DIRECTORIES = new Set<string>()

/** The name of a file in a directory of its own, both gone after `remove` or, at the latest, when the process ends. */
export function temporaryFile(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-'))
  if (DIRECTORIES.size === 0) process.on('exit', removeAll)
  DIRECTORIES.add(directory)
  return {
    file: join(directory, 'memory.db'),
    remove() {
      remove(directory)
      if (DIRECTORIES.size === 0) process.off('exit', removeAll)
    },
  }
}

function removeAll(): void {
  for (const directory of DIRECTORIES) remove(directory)
}

function remove(directory: string): void {
  DIRECTORIES.delete(directory)
  rmSync(directory, { recursive: true, force: true })
}
