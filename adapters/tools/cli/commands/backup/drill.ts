import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../../../../src/client/index.ts'
import { createController, openOperator, type Storage } from '../../../../../src/index.ts'
import { StorageUnavailable } from '../../../../../src/storage.ts'
import { openPkiDirectory } from '../../../../web/node/index.ts'
import { type Answer, type CommandCall, defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { DEFAULT_STORAGE, openStorage, readTables, STORAGE_OPTIONS } from '../../input/open-storage.ts'
import { changedSinceMade } from './copy-digest.ts'
import { copiesIn, problemsOf } from './run-backups.ts'
import { compareStores, type StoreComparison, StoreCopy } from './store-copy.ts'

const PKI = {
  value: 'DIR',
  variable: true,
  summary: 'the folder of certificates and keys that the network is served with; default .portcullis/pki',
} as const

/** `portcullis backup drill`. */
export const BACKUP_DRILL = defineCommand({
  options: {
    ...STORAGE_OPTIONS,
    from: {
      value: 'FILE|DIR|postgres://…',
      summary: 'the copy, a folder whose latest copy is taken, or a restored database',
    },
    pki: PKI,
  },
  hasJson: true,
  details: `Nothing of the backup and nothing of the storage is changed: the scratch controller runs over a copy in a temporary folder, with
the certificates of --pki, and serves nobody. It is told how far the backup is behind the storage, record by record.`,
  examples: [
    'portcullis backup drill --from /backup',
    'portcullis backup drill --from monday.sqlite --storage postgres://db/net',
  ],
  exitCodes: { 0: 'the backup can be served', [EXIT_NO]: 'something is wrong with it' },
  run: drill,
})

/** The outcome of a drill. */
interface DrillReport {
  readonly backup: string
  readonly restoredMs: number
  readonly problems: readonly string[]
  /** The answer of the scratch controller; null where it did not start. */
  readonly controller: { readonly startedMs: number; readonly hasAdmin: boolean; readonly version: string } | null
  /** How far the backup is behind the storage; null without a storage to compare. */
  readonly comparison: StoreComparison | null
}

/** Restores a backup into a scratch controller, compares, and reports. Throws {@link UsageError}. */
export async function drill(
  call: CommandCall<'storage' | 'table-prefix' | 'schema' | 'from' | 'pki'>,
): Promise<Answer> {
  const { options } = call
  const backup = await backupOf(options.typed('from'))
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-drill-'))
  try {
    const begun = Date.now()
    const file = join(folder, 'scratch.sqlite')
    const changed = isAddress(backup) ? undefined : await changedSinceMade(backup)
    const { problems, isReadable } = await restored(backup, file)
    if (changed !== undefined) problems.unshift(changed)
    const restoredMs = Date.now() - begun
    const comparison = isReadable ? await compared(call, file) : null
    const controller = isReadable ? await started(file, options.value('pki') ?? '.portcullis/pki') : null
    if (typeof controller === 'string') problems.push(`no controller starts over it: ${controller}`)
    const answer = typeof controller === 'string' ? null : controller
    const report: DrillReport = { backup, restoredMs, problems, controller: answer, comparison }
    return { text: textOf(report, isReadable), value: report, code: problems.length === 0 ? 0 : EXIT_NO }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether a backup is a restored PostgreSQL database. */
function isAddress(backup: string): boolean {
  return /^postgres(ql)?:\/\//.test(backup)
}

async function backupOf(from: string | undefined): Promise<string> {
  if (from === undefined) throw new UsageError('backup drill needs --from FILE, DIR or postgres://…')
  if (isAddress(from)) return from
  const path = from.replace(/^sqlite:/, '')
  if (!existsSync(path)) throw new UsageError(`--from: there is no file ${path}`)
  if (!(await stat(path)).isDirectory()) return path
  const latest = (await copiesIn(path)).at(-1)
  if (latest === undefined) throw new UsageError(`--from: ${path} holds no copy of portcullis backup run`)
  return join(path, latest)
}

/** Restores a backup and finds its problems. A failure of another cause, such as a full disk, is thrown. */
async function restored(backup: string, file: string): Promise<{ problems: string[]; isReadable: boolean }> {
  const { SchemaMismatch, sqliteStorage } = await import('../../../../storage/kysely/index.ts')
  try {
    await restore(backup, file)
    const problems = [
      ...(await problemsOf(await sqliteStorage(file))),
      ...(await unexplainedIn(await sqliteStorage(file))),
    ]
    return { problems, isReadable: true }
  } catch (error) {
    const isDamaged = error instanceof StorageUnavailable && error.reason === 'corrupt'
    if (isDamaged || error instanceof SchemaMismatch) return { problems: [error.message], isReadable: false }
    throw error
  }
}

/** Names the entities that are not as the audit trail of the backup says, in words, and closes the storage. */
async function unexplainedIn(storage: Storage): Promise<readonly string[]> {
  const operator = await openOperator({ storage })
  try {
    const { count, entities } = await operator.unexplained()
    const named = entities.map(({ kind, id, name, what, fields, record }) => {
      const entity = name === null ? `${kind} ${id}` : `${kind} ${JSON.stringify(name)} (${id})`
      const since = record === null ? '' : `, as record ${record} is the last about it`
      return `no audit record explains ${entity}: ${UNEXPLAINED[what]}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}${since}`
    })
    const others = count - entities.length
    return others === 0 ? named : [...named, `no audit record explains ${others} further entities`]
  } finally {
    await operator.close()
  }
}

const UNEXPLAINED = {
  altered: 'it was altered',
  returned: 'it was deleted and is there',
  gone: 'it is absent and was never deleted',
  added: 'it was never created',
} as const

async function restore(backup: string, file: string): Promise<void> {
  const { restoreSqlite, sqliteStorage } = await import('../../../../storage/kysely/index.ts')
  if (!isAddress(backup)) return restoreSqlite(backup, file)
  const { storage: from } = await openStorage({ name: '--from', value: backup })
  const to = await sqliteStorage(file)
  try {
    await new StoreCopy(from, to).begin()
  } finally {
    await from.close()
    await to.close()
  }
}

async function compared(
  { options }: CommandCall<'storage' | 'table-prefix' | 'schema'>,
  file: string,
): Promise<StoreComparison | null> {
  const setting = options.setting('storage') ?? { name: '--storage', value: DEFAULT_STORAGE }
  const live = /^sqlite:(.*)$/s.exec(setting.value)?.[1]
  if (live !== undefined && !existsSync(live)) return null
  const tables = readTables(setting.value, {
    prefix: options.setting('table-prefix'),
    schema: options.setting('schema'),
  })
  const { sqliteStorage } = await import('../../../../storage/kysely/index.ts')
  const opened: Storage[] = []
  try {
    const { storage } = await openStorage(setting, tables)
    opened.push(storage)
    const scratch = await sqliteStorage(file)
    opened.push(scratch)
    return await compareStores(scratch, storage)
  } finally {
    for (const storage of opened) await storage.close()
  }
}

/** Starts a scratch controller over a restored storage, and answers the result; a text has the reason of a failed start. */
async function started(file: string, pki: string): Promise<NonNullable<DrillReport['controller']> | string> {
  try {
    return await startedOver(file, pki)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function startedOver(file: string, pki: string): Promise<NonNullable<DrillReport['controller']>> {
  const { sqliteStorage } = await import('../../../../storage/kysely/index.ts')
  const begun = Date.now()
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const controller = await createController({
    storage: await sqliteStorage(file),
    address: 'localhost:1',
    logger: quiet,
    ...(existsSync(pki) && { pki: openPkiDirectory(pki) }),
  })
  try {
    const { fetch } = controller
    const client = createClient({ baseUrl: 'https://localhost:1', fetch: (request) => fetch(request) })
    const { data } = await client.call('GET /version')
    return { startedMs: Date.now() - begun, hasAdmin: controller.hasAdmin, version: data.version }
  } finally {
    await controller.close()
  }
}

function textOf({ backup, restoredMs, problems, controller, comparison }: DrillReport, isReadable: boolean): string {
  const count = comparison?.differenceCount ?? 0
  const name = backup.replaceAll(/\/\/[^@\s/]*@/g, '//')
  if (!isReadable) return [`${name} cannot be restored`, ...problems.map((problem) => `wrong: ${problem}`)].join('\n')
  return [
    `restored ${name} in ${restoredMs} ms`,
    ...(comparison === null
      ? ['there is no storage to compare with']
      : [
          `${comparison.records} records, of which the storage has ${count === 0 ? 'all as they are' : `${count} others by now`}`,
        ]),
    ...(comparison?.differences ?? []).map(({ kind, id, what }) => `  ${kind} ${id}: ${WORDS[what]}`),
    ...(controller === null
      ? []
      : [
          `a scratch controller started in ${controller.startedMs} ms, version ${controller.version}${controller.hasAdmin ? '' : ', without an admin'}`,
        ]),
    ...problems.map((problem) => `wrong: ${problem}`),
  ].join('\n')
}

const WORDS = { missing: 'deleted since', added: 'added since', changed: 'changed since' } as const
