import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { synced, writeDurably } from '../../../../network/enrollment/index.ts'

/** The file beside a copy that holds its SHA-256, in the form of `sha256sum`. */
export function digestFileOf(copy: string): string {
  return `${copy}.sha256`
}

/** Writes the digest of a copy beside it; both survive a loss of power when this resolves. */
export async function writeDigest(copy: string, named = copy): Promise<void> {
  await synced(copy)
  await writeDurably(digestFileOf(named), `${await digestOf(copy)}  ${basename(named)}\n`)
}

/**
 * Compares a copy with the digest beside it. Answers the problem in words; undefined for an unchanged copy, and for a copy without a
 * digest, such as a copy of `portcullis snapshot`.
 */
export async function changedSinceMade(copy: string): Promise<string | undefined> {
  const text = await readFile(digestFileOf(copy), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const [digest = ''] = text.split(' ')
  if (digest === (await digestOf(copy))) return undefined
  return `the copy is not as it was made: its SHA-256 is not the one in ${digestFileOf(copy)}`
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
