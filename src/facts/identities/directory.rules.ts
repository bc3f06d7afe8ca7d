import { isSameList } from '../../base/collections.ts'

/** Milliseconds after which a directory that gave no answer is asked again. */
export const ASK_AGAIN_MS = 60_000

/** The valid answer of a directory about an identity; undefined where the directory does not know the identity. */
export type DirectoryAnswer =
  | {
      readonly roleAttributes: readonly string[]
      readonly disabled: boolean
      /** When the role attributes end, epoch ms; null where they last. */
      readonly until: number | null
    }
  | undefined

/** The fields of an identity that a directory decides. Instants are epoch ms. */
export interface DirectoryFields {
  /** Null where the directory gives none. */
  readonly directoryAttributes: readonly string[] | null
  readonly directoryUntil: number | null
  readonly directoryDisabledAt: number | null
  /** When the directory is asked again; null for an identity that it does not know. */
  readonly directoryDueAt: number | null
  /** How many answers were written. */
  readonly directoryAnswers: number | null
}

/** The fields of these whose every change is recorded. The others move with an answer that says the same again. */
export const RECORDED_DIRECTORY_FIELDS: readonly string[] = [
  'directoryAttributes',
  'directoryDisabledAt',
] satisfies readonly (keyof DirectoryFields)[]

/**
 * The fields after an answer at `now` (epoch ms) that counts for `keepForMs`. Undefined where the answer is known and not due soon: nothing
 * is written then, unless the question followed a reported change. That answer is written always, so that an answer to an earlier question
 * finds it.
 */
export function answeredFields(
  before: DirectoryFields,
  answer: DirectoryAnswer,
  now: number,
  { keepForMs, isReported = false }: { readonly keepForMs: number; readonly isReported?: boolean },
): DirectoryFields | undefined {
  const until = answer?.until ?? Number.POSITIVE_INFINITY
  const given = now < until ? [...new Set(answer?.roleAttributes)].sort() : []
  const next: DirectoryFields = {
    directoryAttributes: given.length === 0 ? null : given,
    directoryUntil: given.length === 0 ? null : Math.min(now + keepForMs, until),
    directoryDisabledAt: answer?.disabled ? (before.directoryDisabledAt ?? now) : null,
    directoryDueAt: answer === undefined ? null : now + Math.floor(keepForMs / 2),
    directoryAnswers: (before.directoryAnswers ?? 0) + 1,
  }
  if (!isSameEntry(before, next)) return next
  // A process that asks makes the identity due again in ASK_AGAIN_MS. Within that, the answer is due.
  const isDue = before.directoryDueAt !== null && before.directoryDueAt <= now + ASK_AGAIN_MS
  const endsSooner = (next.directoryUntil ?? 0) < (before.directoryUntil ?? 0)
  const isKnown = (before.directoryDueAt === null) === (next.directoryDueAt === null)
  return isReported || isDue || endsSooner || !isKnown ? next : undefined
}

/**
 * Reports whether the directory is to be asked again before an answer changes anything: since its question began, at `before`, another answer
 * was written. Which of the two questions was the later one is not known, since another process may have asked.
 */
export function isInDoubt(before: DirectoryFields, current: DirectoryFields, next: DirectoryFields): boolean {
  const isAnotherWritten = before.directoryAnswers !== current.directoryAnswers || !isSameEntry(before, current)
  return isAnotherWritten && !isSameEntry(current, next)
}

/** Reports whether a directory gives an identity the same in both states, however long it counts. */
export function isSameEntry(before: DirectoryFields, after: DirectoryFields): boolean {
  return (
    isSameList(before.directoryAttributes ?? [], after.directoryAttributes ?? []) &&
    before.directoryDisabledAt === after.directoryDisabledAt
  )
}

/** A change of an identity, as it was written. */
interface WrittenChange {
  readonly before?: object | undefined
  readonly after?: object | undefined
}

/** Reports whether a change of an identity only says that a directory is asked, or answered the same again. */
export function isDirectoryRenewal({ before, after }: WrittenChange): boolean {
  if (before === undefined || after === undefined) return false
  const moved = { directoryDueAt: null, directoryUntil: null, directoryAnswers: null }
  const rest = (record: object) => JSON.stringify({ ...record, ...moved })
  const isMoved = ['directoryDueAt', 'directoryAnswers'].some(
    (name) => Reflect.get(before, name) !== Reflect.get(after, name),
  )
  return isMoved && rest(before) === rest(after)
}
