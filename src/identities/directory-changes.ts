import { Gate } from '../concurrency/gate.ts'
import { isClosing, logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { ASK_AGAIN_MS } from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { DirectoryChange } from '../facts/network/host-directory.ts'
import type { AskedDirectory } from '../facts/network/host-rules.ts'
import { both, equals, type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { dueRecords } from '../records/due-records.ts'
import { findOne } from '../records/read-records.ts'
import { AT_ONCE, askAbout, type Identity } from './directory-answers.ts'

type DueField = 'directoryUntil' | 'directoryDueAt'

/** Identities in one read or write: other writers wait for it. */
const IN_ONE_WRITE = 100
/** Milliseconds after which a change that could not be written is tried again: access goes on meanwhile that should have ended. */
const CHANGE_AGAIN_MS = 1000
/** Questions that follow a reported change directly, while other processes write answers meanwhile. */
const TRIES = 3
const ASKED: Filter = { kind: 'not', of: equals('typeId', 'Router') }

/**
 * Asks the directory about the identities that are due, by this process alone: asking makes them due again a little later. Before that it ends
 * the role attributes that a directory did not give again in time, also in a process without a directory. The timetable looks again at the
 * next instant.
 */
export async function followDirectory(context: EngineContext): Promise<void> {
  const { directory } = context.host
  if (directory !== undefined) await followLeftChanges(context, directory)
  const instants = [await endOverdue(context), directory && (await askDue(context, directory))]
  for (const at of instants) if (at !== undefined) context.timetable.notLater('directory', 'next', at)
}

/** Answers when (epoch ms) the next role attributes of a directory end. */
async function endOverdue({ clock, storage, writes }: EngineContext): Promise<number | undefined> {
  for (;;) {
    const due = await storage.read((tx) => firstDue(tx, 'directoryUntil', clock.now()))
    if (due.ids.length === 0) return due.next
    await writes.run(SYSTEM_CALL, async (tx) => {
      const now = clock.now()
      for (const identity of await read(tx, await firstDue(tx, 'directoryUntil', now))) {
        const ended = { directoryAttributes: null, directoryUntil: null, updatedAt: now }
        await tx.collection(identities).update({ ...identity, ...ended })
      }
    })
  }
}

/** Answers when (epoch ms) the directory is to be asked next. */
async function askDue(context: EngineContext, directory: AskedDirectory): Promise<number | undefined> {
  const { clock, storage, writes } = context
  for (;;) {
    const due = await storage.read((tx) => firstDue(tx, 'directoryDueAt', clock.now()))
    if (due.ids.length === 0) return due.next
    const asked = await writes.run(SYSTEM_CALL, claim(context))
    // A directory that is away is not asked about everybody.
    if (asked.length > 0 && !(await askAbout(context, directory, asked)).isAnswered) return clock.now() + ASK_AGAIN_MS
  }
}

/**
 * Asks the directory again about whomever it reports as changed. A change that cannot be written is tried again each second: its report is
 * answered when it is written. Answers the function that ends this.
 */
export function followDirectoryChanges(context: EngineContext): () => void {
  const { directory } = context.host
  if (directory === undefined) return () => undefined
  const { leftChanges } = directory
  const turns = new Gate(AT_ONCE)
  // The same change again, before the question about it, is this change.
  const waiting = new Map<string, Promise<void>>()
  const followed = async (change: DirectoryChange, key: string) => {
    const isFollowed = await turns.run(() => {
      waiting.delete(key)
      return isChangeFollowed(context, directory, change)
    })
    if (isFollowed) return
    const left = leftChanges.get(key) ?? { change, reports: [] }
    leftChanges.set(key, left)
    lookAgain(context)
    await new Promise<void>((done) => void left.reports.push(done))
  }
  const stop = directory.follow(async (change) => {
    const key = JSON.stringify(change)
    const turn = waiting.get(key) ?? followed(change, key)
    waiting.set(key, turn)
    await turn
  })
  return () => {
    stop()
    for (const { reports } of leftChanges.values()) for (const done of reports) done()
    leftChanges.clear()
  }
}

function lookAgain({ clock, timetable }: EngineContext): void {
  timetable.notLater('directory', 'next', clock.now() + CHANGE_AGAIN_MS)
}

/** Follows the changes that could not be written, up to the first that cannot be written yet. */
async function followLeftChanges(context: EngineContext, directory: AskedDirectory): Promise<void> {
  const { leftChanges } = directory
  for (const [key, { change, reports }] of [...leftChanges]) {
    // A report that comes meanwhile waits for a question of its own.
    const answered = reports.splice(0)
    const isFollowed = await isChangeFollowed(context, directory, change)
    // Without following there is nobody to try again.
    const isOver = !leftChanges.has(key)
    for (const done of answered) {
      if (isFollowed || isOver) done()
      else reports.push(done)
    }
    if (!isFollowed) return lookAgain(context)
    if (reports.length === 0) leftChanges.delete(key)
  }
}

/**
 * Asks the directory about whomever a change concerns. False where the storage did not answer,
 * or took no change, or other processes wrote answers all the time.
 */
async function isChangeFollowed(
  context: EngineContext,
  directory: AskedDirectory,
  change: DirectoryChange,
): Promise<boolean> {
  const { logger, storage } = context
  try {
    const changed = await storage.read((tx) => changedIn(tx, change))
    for (let first = 0; first < changed.length; first += IN_ONE_WRITE) {
      let asked: readonly string[] = changed.slice(first, first + IN_ONE_WRITE)
      for (let tries = TRIES; tries > 0 && asked.length > 0; tries -= 1) {
        const where = both(ASKED, ids(asked))
        const { items } = await storage.read((tx) => tx.collection(identities).find(where && { where }))
        asked = (await askAbout(context, directory, items, { isReported: true })).inDoubt
      }
      if (asked.length > 0) return false
    }
    return true
  } catch (error) {
    logFailure(logger, 'a change of the directory could not be followed, and is tried again', error)
    return isClosing(error)
  }
}

/** The ids of the identities that a change of the directory concerns. */
async function changedIn(tx: ReadTransaction, change: DirectoryChange): Promise<readonly string[]> {
  if (change === 'all') return tx.collection(identities).findIds({ where: ASKED })
  if ('id' in change) return [change.id]
  const found = await findOne(tx, identities, 'externalId', change.externalId)
  return found === undefined ? [] : [found.id]
}

/** Makes the first due identities due again a little later, and answers them. */
function claim({ clock }: EngineContext): (tx: WriteTransaction) => Promise<readonly Identity[]> {
  return async (tx) => {
    const now = clock.now()
    const due = await read(tx, await firstDue(tx, 'directoryDueAt', now))
    for (const identity of due) {
      await tx.collection(identities).update({ ...identity, directoryDueAt: now + ASK_AGAIN_MS })
    }
    return due
  }
}

/** The first identities that are due by a field at `now` (epoch ms), and the instant of the next where these are all. */
function firstDue(tx: ReadTransaction, field: DueField, now: number) {
  return dueRecords(tx, identities, field, now, { kind: 'not', of: equals(field, null) })
}

async function read(tx: ReadTransaction, due: { readonly ids: readonly string[] }): Promise<readonly Identity[]> {
  return (await tx.collection(identities).find({ where: ids(due.ids) })).items
}
