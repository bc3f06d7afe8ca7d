import { type FileHandle, open, realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runtime } from '../../../src/concurrency/process-runtime.ts'

const OWNER_ONLY = 0o600

/**
 * Writes a file for its owner alone, whole or not at all: it is on the disk when the promise resolves, and stays there when the machine
 * loses its power. Rejects with the error of the file system; the file keeps its former content then.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  // Where the path is a link, the file behind it changes.
  const target = await realpath(path).catch(() => path)
  const beside = `${target}.${runtime.uuid()}.new`
  try {
    await write(beside, text)
    await rename(beside, target)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
  await syncFolder(dirname(target))
}

/** The same for a file that is not there yet. Rejects with the code `EEXIST` where it is. */
export async function writeNewDurably(path: string, text: string): Promise<void> {
  await write(path, text)
  await syncFolder(dirname(path))
}

async function write(path: string, text: string): Promise<void> {
  await synced(await open(path, 'wx', OWNER_ONLY), (file) => file.writeFile(text))
}

async function synced(file: FileHandle, work?: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work?.(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Errors of systems that do not write folders out by themselves. */
const NO_FOLDERS = ['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP']

/** A new name is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  try {
    await synced(await open(path, 'r'))
  } catch (error) {
    if (!NO_FOLDERS.includes(String(Reflect.get(Object(error), 'code')))) throw error
  }
}
