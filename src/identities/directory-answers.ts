import { wasLastAdministrator } from '../authority/last-administrator.ts'
import { Gate } from '../concurrency/gate.ts'
import { isClosing, logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { endApiSessions, endLoginsUnderWay } from '../credentials/login-basis.ts'
import { ASK_AGAIN_MS, answeredFields, type DirectoryAnswer, isSameEntry } from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { DirectoryChange } from '../facts/network/host-directory.ts'
import type { AskedDirectory, DirectoryQuestion } from '../facts/network/host-rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { endReasonsOf } from '../records/deletion.ts'
import { dueRecords } from '../records/due-records.ts'
import { findOne } from '../records/read-records.ts'
import { MORE, writeInBatches } from '../records/write-batches.ts'

type Identity = RecordOf<typeof identities>
type DueField = 'directoryUntil' | 'directoryDueAt'

/** Identities in one read or write: other writers wait for it. */
const IN_ONE_WRITE = 100
/** Milliseconds after which a change that could not be written is tried again: access goes on meanwhile that should have ended. */
const CHANGE_AGAIN_MS = 1000
/** Questions to the directory that are open at once. */
const AT_ONCE = 8
const ASKED: Filter = { kind: 'not', of: equals('typeId', 'Router') }

/**
 * Asks the directory of the host about an identity and writes its answer, at a login or a start of a session. Without a valid answer, or
 * where it cannot be written, what was known stays.
 */
export async function askDirectory(
  context: EngineContext,
  directory: AskedDirectory,
  identity: Identity,
): Promise<void> {
  if (identity.typeId === 'Router') return
  try {
    await askAbout(context, directory, [identity])
  } catch (error) {
    const message = 'an answer of the directory could not be written'
    logFailure(context.logger, message, error, { identity: identity.id })
  }
}

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
    if (asked.length > 0 && !(await askAbout(context, directory, asked))) return clock.now() + ASK_AGAIN_MS
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
    await new Promise<void>((done) => {
      const earlier = leftChanges.get(key)
      leftChanges.set(key, { change, done: () => void [earlier?.done(), done()] })
      lookAgain(context)
    })
  }
  const stop = directory.follow(async (change) => {
    const key = JSON.stringify(change)
    const turn = waiting.get(key) ?? followed(change, key)
    waiting.set(key, turn)
    await turn
  })
  return () => {
    stop()
    for (const { done } of leftChanges.values()) done()
    leftChanges.clear()
  }
}

function lookAgain({ clock, timetable }: EngineContext): void {
  timetable.notLater('directory', 'next', clock.now() + CHANGE_AGAIN_MS)
}

/** Follows the changes that could not be written, up to the first that cannot be written yet. */
async function followLeftChanges(context: EngineContext, directory: AskedDirectory): Promise<void> {
  for (const [key, left] of [...directory.leftChanges]) {
    directory.leftChanges.delete(key)
    if (await isChangeFollowed(context, directory, left.change)) left.done()
    else {
      const since = directory.leftChanges.get(key)
      directory.leftChanges.set(key, { ...left, done: () => void [left.done(), since?.done()] })
      return lookAgain(context)
    }
  }
}

/** Asks the directory about whomever a change concerns. False where the storage did not answer, or took no change. */
async function isChangeFollowed(
  context: EngineContext,
  directory: AskedDirectory,
  change: DirectoryChange,
): Promise<boolean> {
  const { logger, storage } = context
  try {
    const changed = await storage.read((tx) => changedIn(tx, change))
    for (let first = 0; first < changed.length; first += IN_ONE_WRITE) {
      const where = both(ASKED, ids(changed.slice(first, first + IN_ONE_WRITE)))
      const { items } = await storage.read((tx) => tx.collection(identities).find(where && { where }))
      await askAbout(context, directory, items)
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

/** Asks about an identity. The question is under way until {@link askAbout} has written its answer. */
async function answerAbout(directory: AskedDirectory, before: Identity) {
  const { underWay } = directory
  const question: DirectoryQuestion = { isOutdated: false }
  const same = underWay.get(before.id) ?? new Set()
  underWay.set(before.id, same.add(question))
  const answered = await directory.answerFor(before)
  for (const earlier of answered === undefined ? [] : same) {
    if (earlier === question) break
    earlier.isOutdated = true
  }
  return { ...answered, before, question }
}

/**
 * Asks about identities and writes what changed. An identity without a valid answer is due again a little later. False where the directory
 * gave no valid answer at all. Rejects where an answer could not be written.
 */
async function askAbout(
  context: EngineContext,
  directory: AskedDirectory,
  asked: readonly Identity[],
): Promise<boolean> {
  const { clock, logger, writes } = context
  const gate = new Gate(AT_ONCE)
  const ask = (before: Identity) => gate.run(() => answerAbout(directory, before))
  const all = await Promise.all(asked.map(ask))
  const answered = all.flatMap((one) => ('answer' in one ? [one] : []))
  const changed = (current: Identity, answer: DirectoryAnswer): Identity => {
    const now = clock.now()
    const fields = answeredFields(current, answer, now, directory.keepForMs)
    if (fields === undefined) return current
    return { ...current, ...fields, ...(!isSameEntry(current, fields) && { updatedAt: now }) }
  }
  const unanswered = all.filter((one) => !('answer' in one) && !isDueSoon(one.before, clock.now()))
  let disabled: typeof answered = []
  const rest = async (tx: WriteTransaction) => {
    disabled = []
    for (const one of answered) {
      const current = await tx.collection(identities).get(one.before.id)
      if (current === undefined || one.question.isOutdated) continue
      // Another process may have written the answer to a later question: the directory is asked again.
      const isInDoubt = !isSameEntry(one.before, current)
      const next = isInDoubt ? { ...current, directoryDueAt: clock.now() } : changed(current, one.answer)
      if (disables(current, next)) disabled.push(one)
      else if (next !== current) await tx.collection(identities).update(next)
    }
    for (const { before, question } of unanswered) {
      const current = await tx.collection(identities).get(before.id)
      const now = clock.now()
      if (current === undefined || question.isOutdated || isDueSoon(current, now)) continue
      await tx.collection(identities).update({ ...current, directoryDueAt: now + ASK_AGAIN_MS })
    }
  }
  // As an administrator disables an identity.
  const disable = ({ before: { id }, answer, question }: (typeof answered)[number]) =>
    writeInBatches(
      context,
      SYSTEM_CALL,
      async (tx, batch) => {
        const current = await tx.collection(identities).get(id)
        if (current === undefined || question.isOutdated) return undefined
        const next = changed(current, answer)
        await tx.collection(identities).update(next)
        if (await wasLastAdministrator({ tx, pki: context.pki, now: clock.now() }, id)) {
          logger.error('the directory disables the last administrator, who stays enabled', { identity: id })
          await tx.collection(identities).update({ ...next, directoryDisabledAt: null })
          return undefined
        }
        await endLoginsUnderWay(tx, id)
        return (await endApiSessions(tx, 'identityId', id, batch)) === MORE ? MORE : undefined
      },
      endReasonsOf(apiSessions),
    )
  try {
    if (answered.length + unanswered.length > 0) await writes.run(SYSTEM_CALL, rest)
    for (const one of disabled) await disable(one)
  } finally {
    for (const { before, question } of all) {
      const same = directory.underWay.get(before.id)
      same?.delete(question)
      if (same?.size === 0) directory.underWay.delete(before.id)
    }
  }
  return answered.length > 0
}

function disables(before: Identity, after: Identity): boolean {
  return before.directoryDisabledAt === null && after.directoryDisabledAt !== null
}

/** Reports whether an identity is asked about soon anyway. */
function isDueSoon({ directoryDueAt }: Identity, now: number): boolean {
  return directoryDueAt !== null && directoryDueAt <= now + ASK_AGAIN_MS
}
