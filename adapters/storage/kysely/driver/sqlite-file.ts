import { mkdtempSync, rmSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'

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

/** How far a copy is, in bytes; a copy may end smaller than its original, because free pages stay behind. */
export interface CopyProgress {
  readonly copied: number
  readonly total: number
}

/** Called with the progress of a copy. */
export type OnCopyProgress = (progress: CopyProgress) => void

const PROGRESS_INTERVAL_MS = 500

/** In a thread of its own, because to check and to copy a large file takes seconds. */
const COPY = `
const { workerData: { from, to } } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(from, { readOnly: true, timeout: 5000 })
const [verdict] = Object.values(database.prepare('pragma quick_check(1)').get() ?? {})
if (verdict !== 'ok') throw Object.assign(new Error(from + ': ' + verdict), { errcode: 11 })
database.prepare('vacuum into ?').run(to)
database.close()`

/**
 * Copies a SQLite database as it is at one moment, also while others write to it. The copy is on the disk, whole, before it gets its name.
 * A file of that name is replaced. A damaged database is not copied. Errors are those of SQLite and of the file system.
 */
export async function copyDatabase(from: string, to: string, onProgress?: OnCopyProgress): Promise<void> {
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { force: true })
  const total = (await stat(from)).size
  const sizeOf = async () => (await stat(unfinished).catch(() => undefined))?.size ?? 0
  const cancel =
    onProgress &&
    runtime.interval(
      PROGRESS_INTERVAL_MS,
      async () => onProgress({ copied: Math.min(await sizeOf(), total), total }),
      true,
    )
  try {
    await createPrivateFile(unfinished)
    await vacuumInto(from, unfinished)
    const file = await open(unfinished, 'r+')
    await file.sync().finally(() => file.close())
    await rename(unfinished, to)
  } finally {
    cancel?.()
    await rm(unfinished, { force: true })
  }
}

function vacuumInto(from: string, to: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(COPY, { eval: true, workerData: { from, to } })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
