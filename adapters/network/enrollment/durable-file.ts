import { chmod, type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runtime } from '../../../src/concurrency/process-runtime.ts'

const OWNER_ONLY = 0o600
/** The system takes off the permissions that the user denies to others. */
const EVERYBODY = 0o666

/**
 * Writes a file, whole or not at all: it is on the disk when the promise resolves, and stays there when the machine loses its power.
 * It is for its owner alone; a file that `isPublic` keeps the permissions that it has. A device or a pipe is written to.
 * Rejects with the error of the file system, with the `path`; the file keeps its former content then.
 */
export async function writeDurably(path: string, text: string, { isPublic = false } = {}): Promise<void> {
  // Where the path is a link, the file behind it changes.
  const target = await realpath(path).catch(() => path)
  const former = await stat(target).catch(() => undefined)
  if (former !== undefined && !former.isFile()) return writeFile(target, text)
  const beside = `${target}.${runtime.uuid()}.new`
  try {
    await write(beside, text, isPublic ? EVERYBODY : OWNER_ONLY)
    if (isPublic && former !== undefined) await chmod(beside, former.mode)
    await rename(beside, target)
  } catch (error) {
    await rm(beside, { force: true })
    throw naming(error, path)
  }
  await synced(dirname(target))
}

/** The same for a file of its owner that is not there yet. Rejects with the code `EEXIST` where it is. */
export async function writeNewDurably(path: string, text: string): Promise<void> {
  try {
    await write(path, text, OWNER_ONLY)
  } catch (error) {
    throw naming(error, path)
  }
  await synced(dirname(path))
}

/** Makes the content of a file, or the names in a folder, survive a loss of power. Rejects with the error of the file system. */
export async function synced(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory()
  try {
    await closing(await open(path, isFolder ? 'r' : 'r+'), (file) => file.sync())
  } catch (error) {
    if (!isFolder || !NO_FOLDERS.includes(String(Reflect.get(Object(error), 'code')))) throw error
  }
}

/** Errors of systems that write folders out by themselves. */
const NO_FOLDERS = ['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP']

/** Nothing is left of a new file that could not be written. */
async function write(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await closing(file, async () => {
      await file.writeFile(text)
      await file.sync()
    })
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

async function closing(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file)
  } finally {
    await file.close()
  }
}

/** Errors of the system name a file that is opened, and not a file that is written. */
function naming(error: unknown, path: string): unknown {
  return error instanceof Error ? Object.assign(error, { path }) : error
}
