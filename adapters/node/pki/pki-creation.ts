import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PkiMaterial } from '../../../src/index.ts'
import { errorCode } from './pki-files.ts'

/**
 * File names of a PKI directory, in the order in which they are put in place: that of the root's key, which may be missing
 * afterwards, comes first, so that it is there when all others are.
 */
export const PKI_FILE_NAMES = {
  caKeyPem: 'ca.key',
  caPem: 'ca.pem',
  signingCertPem: 'signing.pem',
  signingKeyPem: 'signing.key',
  serverCertPem: 'server.pem',
  serverKeyPem: 'server.key',
} as const satisfies Required<Record<keyof PkiMaterial, string>>

/**
 * The directory inside a PKI directory that holds a new PKI from the moment when it is whole until its last file stands
 * in place. A process that finds it moves the rest.
 */
export const CREATED = '.created'

const UNFINISHED_PREFIX = '.creating-'

/** Whether a name is the one of a directory in which a new PKI is being written. */
export function isUnfinished(name: string): boolean {
  return name.startsWith(UNFINISHED_PREFIX)
}

/**
 * Stores a new PKI as {@link CREATED}, whole or not at all. Answers false when another process was faster.
 * It is written inside the directory, not beside it: the directory may be a mounted volume, which no rename can replace.
 */
export async function storeNew(directory: string, material: Required<PkiMaterial>): Promise<boolean> {
  const unfinished = join(directory, UNFINISHED_PREFIX + randomUUID())
  try {
    await mkdir(unfinished, { mode: 0o700 })
    for (const [part, name] of partsAndNames()) {
      const mode = name.endsWith('.key') ? 0o600 : 0o644
      // Flushed, so that a file whose name survives a power failure has its content too.
      await writeFile(join(unfinished, name), material[part], { mode, flag: 'wx', flush: true })
    }
    await rename(unfinished, join(directory, CREATED))
    return true
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another process has put its own there, or has finished and cleared this one away.
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return false
    throw error
  }
}

/** Moves the files of {@link CREATED} to their places; another process may be doing the same. */
export async function moveIntoPlace(directory: string): Promise<void> {
  for (const [, name] of partsAndNames()) {
    await tolerating('ENOENT', () => rename(join(directory, CREATED, name), join(directory, name)))
  }
  // Not empty when a third process has put a PKI there in this moment: it is put aside, for this one is in place.
  await tolerating('ENOENT', () => tolerating('ENOTEMPTY', () => rmdir(join(directory, CREATED))))
}

/** Does something that may fail in one way. */
export async function tolerating(code: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (errorCode(error) !== code) throw error
  }
}

function partsAndNames() {
  // Object.entries forgets the keys' types; the object above is the constant right here.
  return Object.entries(PKI_FILE_NAMES) as [keyof PkiMaterial, string][]
}
