import { utf8Bytes } from '../../../domain/bytes.ts'
import type { Profile } from '../../../domain/compatibility.ts'
import type { Limits } from '../../../domain/limits.ts'
import { jsonText } from '../../../engine/records/wire-form/json-text.ts'
import type { FindQuery } from '../../../ports/storage.ts'
import type { PlainAnswer } from '../../exchange/plain-exchange.ts'
import type { Answer } from '../../operations/answer.ts'
import type { OperationShape } from '../../operations/operation.ts'
import { answerOf, jsonTextAnswer } from './json-answer.ts'
import { type KeptLists, LIST_HEAD } from './kept-lists.ts'

/** Versions of the API and of the enrollment protocol, in the `meta` of every answer. */
export const API_VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' } as const

/** Wraps what an operation answers: `data` and `meta`, with pagination and filterable fields for a list, which is no longer than
 * `answerBytes`. */
export function envelope(
  shape: OperationShape,
  answer: Answer,
  find: FindQuery,
  { answerBytes }: Pick<Limits, 'answerBytes'>,
  { answersDeployedStatus }: Pick<Profile, 'answersDeployedStatus'>,
  keptLists: KeptLists,
): PlainAnswer {
  const deployed = answersDeployedStatus ? shape.deployedStatus : undefined
  const status = answer.status ?? deployed ?? shape.status ?? 200
  if (answer.stream !== undefined) return { status, headers: { ...answer.headers }, body: answer.stream }
  if (answer.raw !== undefined) {
    return answerOf(status, shape.produces ?? 'application/octet-stream', answer.raw, answer.headers)
  }
  if (answer.page === undefined && shape.produces !== undefined) {
    return jsonTextAnswer(status, jsonText(answer.data), answer.headers)
  }
  if (answer.page === undefined) {
    const text = { data: jsonText(answer.data ?? {}), meta: JSON.stringify({ ...API_VERSIONS, ...answer.meta }) }
    return jsonTextAnswer(status, `{"data":${text.data},"meta":${text.meta}}\n`, answer.headers)
  }
  const { items, totalCount } = answer.page
  const tailOf = (count: number) => {
    // A page that ends early says so: who goes on at offset + limit misses nothing.
    const limit = count < items.length ? count : (find.limit ?? items.length)
    const pagination = { limit, offset: find.offset ?? 0, totalCount }
    const filterableFields = Object.keys(shape.symbols ?? {})
    return `],"meta":${JSON.stringify({ ...API_VERSIONS, filterableFields, pagination })}}\n`
  }
  const body = keptLists.bytes(items, answerBytes, tailOf) ?? listText(items, answerBytes, tailOf)
  return jsonTextAnswer(status, body, answer.headers)
}

/** The JSON of a list whose items are written for this answer. */
function listText(items: readonly unknown[], most: number, tailOf: (count: number) => string): string {
  const texts = textsWithin(items, most)
  const pieces = texts.flatMap((text, position) => (position === 0 ? [text] : [',', text]))
  // Joined once: every further copy of a long text costs as much as writing it.
  return [LIST_HEAD, ...pieces, tailOf(texts.length)].join('')
}

/** The JSON of items, one at least and no more than have so many bytes together. */
function textsWithin(items: readonly unknown[], most: number): readonly string[] {
  const texts: string[] = []
  // No unit of a text takes more than three bytes: it is counted where that may matter.
  let bytesAtMost = 0
  let bytes = 0
  let counted = 0
  for (const item of items) {
    const text = jsonText(item)
    bytesAtMost += 1 + 3 * text.length
    if (bytesAtMost > most) {
      for (; counted < texts.length; counted += 1) bytes += 1 + utf8Bytes(texts[counted] ?? '')
      if (bytes + 1 + utf8Bytes(text) > most && texts.length > 0) break
    }
    texts.push(text)
  }
  return texts
}
