import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openOperator, type Storage } from '../../../../../src/index.ts'
import { synced } from '../../../../network/enrollment/index.ts'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { readKeep } from '../../input/durations.ts'
import { DEFAULT_STORAGE, STORAGE_OPTIONS } from '../../input/open-storage.ts'
import { digestFileOf, writeDigest } from './copy-digest.ts'

/** `portcullis backup run`. */
export const BACKUP_RUN = defineCommand({
  options: {
    ...STORAGE_OPTIONS,
    to: { value: 'DIR', summary: 'the folder of the copies, made when it is missing' },
    keep: { value: 'COUNT', summary: 'how many copies stay, the latest; default 14' },
    every: {
      value: 'DURATION',
      summary: 'go on until it is stopped, with a copy every 6h, 30m or 1d; default: one copy',
    },
  },
  hasJson: true,
  details: `A copy counts once it was opened and found whole, and its SHA-256 stands beside it: then older ones beyond --keep are removed, and never before. A PostgreSQL
database is copied with pg_dump, or archived to be put back to a point in time.`,
  examples: ['portcullis backup run --to /backup', 'portcullis backup run --to /backup --every 6h --keep 28'],
  run: runBackups,
})

/** A copy in a folder of them; names sort by time. */
const COPY = /^portcullis-\d{8}T\d{6}Z\.sqlite$/

/** A copy that was made, opened and found whole. */
interface MadeCopy {
  readonly file: string
  readonly bytes: number
  /** Milliseconds that it took to copy and to open. */
  readonly tookMs: number
  readonly removed: readonly string[]
}

/** Copies a storage once, or every so often until it is stopped. Throws {@link UsageError}. */
export async function runBackups(
  call: CommandCall<'storage' | 'table-prefix' | 'schema' | 'to' | 'keep' | 'every'>,
): Promise<Answer> {
  const { options, terminal } = call
  const file = /^sqlite:(.+)$/s.exec(options.value('storage') ?? DEFAULT_STORAGE)?.[1]
  if (file === undefined) {
    throw new UsageError('backup run takes --storage sqlite:FILE: a PostgreSQL database is copied with pg_dump')
  }
  const folder = options.typed('to')
  if (folder === undefined) throw new UsageError('backup run needs --to DIR')
  const keep = Number(options.typed('keep') ?? '14')
  if (!Number.isInteger(keep) || keep < 1) throw new UsageError(`--keep takes a number from 1 on`)
  const every = options.setting('every')
  const everyMs = every === undefined ? undefined : readKeep(every)
  if (everyMs !== undefined && everyMs < 60_000) throw new UsageError('--every takes a minute at least')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const textOf = ({ file: made, bytes, removed }: MadeCopy) =>
    `copied to ${made}, ${bytes} bytes, opened and whole${removed.length > 0 ? `; removed ${removed.join(', ')}` : ''}`
  if (everyMs === undefined) {
    const made = await makeCopy(file, folder, keep)
    return { text: textOf(made), value: made }
  }
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
  let count = 0
  while (!stopped.signal.aborted) {
    try {
      terminal.print(textOf(await makeCopy(file, folder, keep)))
      count += 1
    } catch (error) {
      // The next backup is due all the same: the storage may be away for a while.
      terminal.print(`no copy was made: ${error instanceof Error ? error.message : String(error)}`)
    }
    await sleep(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined)
  }
  return { text: `stopped after ${count} copies`, value: { copies: count } }
}

/** The copies of a folder, the earliest first. */
export async function copiesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => COPY.test(name)).sort()
}

/** The latest copy of a folder; undefined without any. Rejects where the folder cannot be read. */
export async function latestCopyIn(
  folder: string,
): Promise<{ readonly name: string; readonly madeAt: Date } | undefined> {
  const name = (await copiesIn(folder)).at(-1)
  return name === undefined ? undefined : { name, madeAt: (await stat(join(folder, name))).mtime }
}

/** Finds contradictions in a storage, in words, and closes it. */
export async function problemsOf(storage: Storage): Promise<readonly string[]> {
  const operator = await openOperator({ storage })
  try {
    const [problems, audit] = [await operator.checkIntegrity(), await operator.verifyAudit()]
    return [...problems, ...(audit.isWhole ? [] : [`the audit trail is not whole: ${JSON.stringify(audit.tampering)}`])]
  } finally {
    await operator.close()
  }
}

async function makeCopy(file: string, folder: string, keep: number): Promise<MadeCopy> {
  const { snapshotSqlite, sqliteStorage } = await import('../../../../storage/kysely/index.ts')
  const begun = Date.now()
  const stamp = new Date(begun).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const unfinished = join(folder, `.unfinished-${stamp}.sqlite`)
  const name = `portcullis-${stamp}.sqlite`
  try {
    await snapshotSqlite(file, unfinished)
    const [problem] = await problemsOf(await sqliteStorage(unfinished))
    if (problem !== undefined) throw new Error(`the copy is not whole: ${problem}`)
    // The digest first: a copy without a digest would count as a copy that cannot be compared.
    await writeDigest(unfinished, join(folder, name))
    await rename(unfinished, join(folder, name))
    await synced(folder)
  } finally {
    for (const rest of ['', '-wal', '-shm']) await rm(unfinished + rest, { force: true })
  }
  const removed = (await copiesIn(folder)).slice(0, -keep)
  for (const old of removed) {
    await rm(join(folder, old))
    await rm(digestFileOf(join(folder, old)), { force: true })
  }
  const { size: bytes } = await stat(join(folder, name))
  return { file: join(folder, name), bytes, tookMs: Date.now() - begun, removed }
}
