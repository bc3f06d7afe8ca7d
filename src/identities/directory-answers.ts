import { wasLastAdministrator } from '../authority/last-administrator.ts'
import { Gate } from '../concurrency/gate.ts'
import { logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { endApiSessions, endLoginsUnderWay } from '../credentials/login-basis.ts'
import { ASK_AGAIN_MS, answeredFields, isInDoubt, isSameEntry } from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { AskedDirectory, DirectoryQuestion, LoginQuestion } from '../facts/network/host-rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { endReasonsOf } from '../records/deletion.ts'
import { MORE, writeInBatches } from '../records/write-batches.ts'

export type Identity = RecordOf<typeof identities>

/** Questions to the directory that are open at once. */
export const AT_ONCE = 8

/**
 * Asks the directory of the host about an identity and writes its answer, at a login or a start of a session. Without a valid answer, or
 * where it cannot be written, what was known stays. However many logins of an identity there are, one question about it runs and one waits,
 * which they share: the running one may have been answered before the login. Where the running one gets no answer, no other is asked.
 */
export async function askDirectory(
  context: EngineContext,
  directory: AskedDirectory,
  identity: Identity,
): Promise<void> {
  if (identity.typeId === 'Router') return
  const { ofLogins } = directory
  const { id } = identity
  const known = ofLogins.get(id)
  if (known === undefined) {
    const question: LoginQuestion = { running: askAtLogin(context, directory, identity), next: undefined }
    ofLogins.set(id, question)
    await question.running
    if (question.next === undefined) ofLogins.delete(id)
    return
  }
  known.next ??= askNext(context, directory, id, known)
  await known.next
}

/** Asks the next question when the running one is answered. */
async function askNext(
  context: EngineContext,
  directory: AskedDirectory,
  id: string,
  question: LoginQuestion,
): Promise<boolean> {
  const isAnswered = await question.running
  const running = isAnswered ? askAtLogin(context, directory, id) : question.running
  question.running = running
  question.next = undefined
  const isAnsweredAgain = await running
  if (question.next === undefined) directory.ofLogins.delete(id)
  return isAnsweredAgain
}

/** False where the directory gave no valid answer, or it could not be written. */
async function askAtLogin(
  context: EngineContext,
  directory: AskedDirectory,
  asked: Identity | string,
): Promise<boolean> {
  const id = typeof asked === 'string' ? asked : asked.id
  try {
    // The question before may have changed the identity.
    const current = () => context.storage.read((tx) => tx.collection(identities).get(id))
    const identity = typeof asked === 'string' ? await current() : asked
    return identity !== undefined && (await askAbout(context, directory, [identity])).isAnswered
  } catch (error) {
    logFailure(context.logger, 'an answer of the directory could not be written', error, { identity: id })
    return false
  }
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
 * Asks about identities and writes what changed. An identity without a valid answer is due again a little later. One in doubt is due at
 * once, unless its change was reported: the report asks again. `isAnswered` is false where the directory gave no valid answer at all.
 * Rejects where an answer could not be written.
 */
export async function askAbout(
  context: EngineContext,
  directory: AskedDirectory,
  asked: readonly Identity[],
  { isReported }: { readonly isReported: boolean } = { isReported: false },
): Promise<{ readonly isAnswered: boolean; readonly inDoubt: readonly string[] }> {
  const { clock, logger, writes } = context
  const { keepForMs } = directory
  const gate = new Gate(AT_ONCE)
  const ask = (before: Identity) => gate.run(() => answerAbout(directory, before))
  const all = await Promise.all(asked.map(ask))
  const answered = all.flatMap((one) => ('answer' in one ? [one] : []))
  const inDoubt = new Set<string>()
  const changed = (current: Identity, { before, answer }: (typeof answered)[number]): Identity => {
    const now = clock.now()
    const fields = answeredFields(current, answer, now, { keepForMs, isReported })
    if (fields === undefined) return current
    // Another process may have written the answer to a later question.
    if (isInDoubt(before, current, fields)) {
      inDoubt.add(current.id)
      return isReported ? current : { ...current, directoryDueAt: now }
    }
    return { ...current, ...fields, ...(!isSameEntry(current, fields) && { updatedAt: now }) }
  }
  const unanswered = all.filter((one) => !('answer' in one) && !isDueSoon(one.before, clock.now()))
  let disabled: typeof answered = []
  const rest = async (tx: WriteTransaction) => {
    disabled = []
    inDoubt.clear()
    for (const one of answered) {
      const current = await tx.collection(identities).get(one.before.id)
      if (current === undefined || one.question.isOutdated) continue
      const next = changed(current, one)
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
  const disable = (one: (typeof answered)[number]) => {
    const { id } = one.before
    return writeInBatches(
      context,
      SYSTEM_CALL,
      async (tx, batch) => {
        const current = await tx.collection(identities).get(id)
        inDoubt.delete(id)
        if (current === undefined || one.question.isOutdated) return undefined
        const next = changed(current, one)
        await tx.collection(identities).update(next)
        if (inDoubt.has(id)) return undefined
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
  }
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
  return { isAnswered: answered.length > 0, inDoubt: [...inDoubt] }
}

function disables(before: Identity, after: Identity): boolean {
  return before.directoryDisabledAt === null && after.directoryDisabledAt !== null
}

/** Reports whether an identity is asked about soon anyway. */
function isDueSoon({ directoryDueAt }: Identity, now: number): boolean {
  return directoryDueAt !== null && directoryDueAt <= now + ASK_AGAIN_MS
}
