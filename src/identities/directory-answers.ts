import { wasLastAdministrator } from '../authority/last-administrator.ts'
import { Gate } from '../concurrency/gate.ts'
import { logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { endApiSessions, endLoginsUnderWay } from '../credentials/login-basis.ts'
import {
  ASK_AGAIN_MS,
  answeredFields,
  type DirectoryAnswer,
  isInDoubt,
  isSameEntry,
} from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { AskedDirectory, DirectoryQuestion, LoginQuestion } from '../facts/network/host-rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { endReasonsOf } from '../records/deletion.ts'
import { MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'

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

/** A question about one identity with its answer. Without the member `answer` the directory gave no valid one. */
interface Answered {
  /** The identity as it was when the question was asked. */
  readonly before: Identity
  readonly question: DirectoryQuestion
  readonly answer?: DirectoryAnswer
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
  const { clock, writes } = context
  const gate = new Gate(AT_ONCE)
  const all = await Promise.all(asked.map((before) => gate.run(() => answerAbout(directory, before))))
  const answered = all.filter((one) => 'answer' in one)
  const unanswered = all.filter((one) => !('answer' in one) && !isDueSoon(one.before, clock.now()))
  const round = new AnswerRound(context, { keepForMs: directory.keepForMs, isReported })
  try {
    if (answered.length + unanswered.length > 0) {
      const disabling = await writes.run(SYSTEM_CALL, (tx) => round.writeAll(tx, answered, unanswered))
      for (const one of disabling) await round.disable(one)
    }
  } finally {
    endQuestions(directory, all)
  }
  return { isAnswered: answered.length > 0, inDoubt: [...round.inDoubt] }
}

/** Asks about an identity. The question is under way until {@link askAbout} has written its answer. */
async function answerAbout(directory: AskedDirectory, before: Identity): Promise<Answered> {
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

function endQuestions({ underWay }: AskedDirectory, asked: readonly Answered[]): void {
  for (const { before, question } of asked) {
    const same = underWay.get(before.id)
    same?.delete(question)
    if (same?.size === 0) underWay.delete(before.id)
  }
}

/** Writes the answers to questions that were asked together. */
class AnswerRound {
  /** Identities that changed after the question, so that the answer may be too old. */
  readonly inDoubt = new Set<string>()
  readonly #context: EngineContext
  readonly #rule: { readonly keepForMs: number; readonly isReported: boolean }

  constructor(context: EngineContext, rule: { readonly keepForMs: number; readonly isReported: boolean }) {
    this.#context = context
    this.#rule = rule
  }

  /** Writes the answers, and returns the answers that disable an identity: {@link disable} writes them. */
  async writeAll(tx: WriteTransaction, answered: readonly Answered[], unanswered: readonly Answered[]) {
    const { clock } = this.#context
    const stored = tx.collection(identities)
    const disabling: Answered[] = []
    this.inDoubt.clear()
    for (const one of answered) {
      const current = await stored.get(one.before.id)
      if (current === undefined || one.question.isOutdated) continue
      const next = this.#changed(current, one)
      if (disables(current, next)) disabling.push(one)
      else if (next !== current) await stored.update(next)
    }
    for (const { before, question } of unanswered) {
      const current = await stored.get(before.id)
      const now = clock.now()
      if (current === undefined || question.isOutdated || isDueSoon(current, now)) continue
      await stored.update({ ...current, directoryDueAt: now + ASK_AGAIN_MS })
    }
    return disabling
  }

  /** Disables an identity and ends its sessions, as an administrator does. The last administrator stays enabled. */
  async disable(one: Answered): Promise<void> {
    const { id } = one.before
    const disableIn = async (tx: WriteTransaction, batch: WriteBatch) => {
      const stored = tx.collection(identities)
      const current = await stored.get(id)
      this.inDoubt.delete(id)
      if (current === undefined || one.question.isOutdated) return undefined
      const next = this.#changed(current, one)
      await stored.update(next)
      if (this.inDoubt.has(id)) return undefined
      const { clock, logger, pki } = this.#context
      if (await wasLastAdministrator({ tx, pki, now: clock.now() }, id)) {
        logger.error('the directory disables the last administrator, who stays enabled', { identity: id })
        await stored.update({ ...next, directoryDisabledAt: null })
        return undefined
      }
      await endLoginsUnderWay(tx, id)
      return (await endApiSessions(tx, 'identityId', id, batch)) === MORE ? MORE : undefined
    }
    await writeInBatches(this.#context, SYSTEM_CALL, disableIn, endReasonsOf(apiSessions))
  }

  /** The identity as its answer makes it. In doubt it keeps what it has, and is asked about again. */
  #changed(current: Identity, { before, answer }: Answered): Identity {
    const now = this.#context.clock.now()
    const fields = answeredFields(current, answer, now, this.#rule)
    if (fields === undefined) return current
    // Another process may have written the answer to a later question.
    if (isInDoubt(before, current, fields)) {
      this.inDoubt.add(current.id)
      return this.#rule.isReported ? current : { ...current, directoryDueAt: now }
    }
    return { ...current, ...fields, ...(!isSameEntry(current, fields) && { updatedAt: now }) }
  }
}

function disables(before: Identity, after: Identity): boolean {
  return before.directoryDisabledAt === null && after.directoryDisabledAt !== null
}

/** Reports whether an identity is asked about soon anyway. */
function isDueSoon({ directoryDueAt }: Identity, now: number): boolean {
  return directoryDueAt !== null && directoryDueAt <= now + ASK_AGAIN_MS
}
