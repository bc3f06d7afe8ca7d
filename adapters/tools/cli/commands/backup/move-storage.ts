import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type CommandCall, defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { openStorage, withoutPasswords } from '../../input/open-storage.ts'
import { StoreCopy } from './store-copy.ts'

/** `portcullis copy`. */
export const COPY = defineCommand({
  options: {
    from: { value: 'STORAGE', summary: 'sqlite:FILE or postgres://…' },
    to: { value: 'STORAGE', summary: 'sqlite:FILE or postgres://…, without records' },
    follow: { summary: 'keep the copy level until interrupted; then catch up, compare every record, and end' },
  },
  hasJson: true,
  details: `To move a network: copy with --follow, wait for the line that it is level, stop the processes that serve the old storage,
interrupt the copy, and serve the new one. The audit trail moves with its chain. Sessions and enrollments stay good.`,
  examples: ['portcullis copy --from sqlite:.portcullis/portcullis.sqlite --to postgres://db/net --follow'],
  exitCodes: { 0: 'every record is there', [EXIT_NO]: 'records differ' },
  run: moveStorage,
})

/** Milliseconds between two looks whether the source changed. */
const SOURCE_LOOK_MS = 500
/** Milliseconds within which a level copy takes over the writes since the last look. */
const LEVEL_MS = 2000

/** Copies a storage into another one, and keeps the copy level if the options ask for it. Throws {@link UsageError}. */
export async function moveStorage({ options, terminal }: CommandCall<'from' | 'to' | 'follow'>): Promise<Answer> {
  const [source, target] = [options.setting('from'), options.setting('to')]
  if (source === undefined || target === undefined) throw new UsageError('copy needs --from STORAGE and --to STORAGE')
  for (const { name, value } of [source, target]) {
    if (value === 'memory') throw new UsageError(`${name} takes sqlite:FILE or postgres://…: memory is of one process`)
  }
  const { storage: from } = await openStorage(source)
  const { storage: to } = await openStorage(target).catch(async (error: unknown) => {
    await from.close()
    throw error
  })
  try {
    const copy = new StoreCopy(from, to)
    await copy.begin(({ kind, records }) => terminal.progress(`${kind}: ${records}`))
    if (options.flag('follow')) await followUntilStopped(copy, (line) => terminal.print(line))
    const begun = Date.now()
    while ((await copy.follow()) > 0);
    const { records, differenceCount, differences } = await copy.compare()
    const value = { records, differenceCount, differences, switchMs: Date.now() - begun }
    const text =
      differenceCount === 0
        ? `${records} records are in both storages; the last step took ${value.switchMs} ms`
        : `${differenceCount} of ${records} records differ: something still writes to one of the storages`
    return { text, value, code: differenceCount === 0 ? 0 : EXIT_NO }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`copy: ${withoutPasswords(error)}`, { cause: error })
  } finally {
    await from.close()
    await to.close()
  }
}

/**
 * Keeps the copy level until the process is interrupted. Under constant writes there is always more to take over, so the copy counts as
 * level once it catches up quickly.
 */
async function followUntilStopped(copy: StoreCopy, print: (line: string) => void): Promise<void> {
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
  let wasLevel = false
  while (!stopped.signal.aborted) {
    const begun = Date.now()
    const count = await copy.follow()
    const isLevel = count === 0 || Date.now() - begun < LEVEL_MS
    if (isLevel && !wasLevel)
      print(`level at revision ${copy.revision}: stop what serves the source, then interrupt this`)
    wasLevel ||= isLevel
    await sleep(SOURCE_LOOK_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
  }
}
