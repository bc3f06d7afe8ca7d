import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directories = new Set<string>()

/** The name of a file in a directory of its own, both gone after `remove` or, at the latest, when the process ends. */
export function temporaryFile(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-'))
  if (directories.size === 0) process.on('exit', removeAll)
  directories.add(directory)
  return {
    file: join(directory, 'memory.db'),
    remove() {
      remove(directory)
      if (directories.size === 0) process.off('exit', removeAll)
    },
  }
}

function removeAll(): void {
  for (const directory of directories) remove(directory)
}

function remove(directory: string): void {
  directories.delete(directory)
  rmSync(directory, { recursive: true, force: true })
}
