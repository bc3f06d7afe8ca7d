import { open, rename, rm, stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { createPrivateFile } from './sqlite-files.ts'

/** How far a copy is, in bytes; a copy may end smaller than its original, because free pages stay behind. */
export interface CopyProgress {
  readonly copied: number
  readonly total: number
}

/** Told how far a copy is. */
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
 * Copies a SQLite database as it is at one moment, whoever writes to it meanwhile. The copy is on the disk, whole, before it
 * has its name; what had that name is replaced. A damaged database is not copied. Errors are those of SQLite and of the file
 * system.
 */
export async function copyDatabase(from: string, to: string, onProgress?: OnCopyProgress): Promise<void> {
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { force: true })
  const total = (await stat(from)).size
  const sizeOf = async () => (await stat(unfinished).catch(() => undefined))?.size ?? 0
  const timer =
    onProgress &&
    setInterval(async () => onProgress({ copied: Math.min(await sizeOf(), total), total }), PROGRESS_INTERVAL_MS)
  try {
    await createPrivateFile(unfinished)
    await vacuumInto(from, unfinished)
    const file = await open(unfinished, 'r+')
    await file.sync().finally(() => file.close())
    await rename(unfinished, to)
  } finally {
    clearInterval(timer)
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
