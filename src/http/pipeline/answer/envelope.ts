import { utf8Bytes } from '../../../domain/bytes.ts'
import type { Profile } from '../../../domain/compatibility.ts'
import type { Limits } from '../../../domain/limits.ts'
import { jsonText, keptBytes } from '../../../engine/records/wire-form/json-text.ts'
import type { FindQuery } from '../../../ports/storage.ts'
import type { PlainAnswer } from '../../exchange/plain-exchange.ts'
import type { Answer } from '../../operations/answer.ts'
import type { OperationShape } from '../../operations/operation.ts'
import { answerOf, jsonTextAnswer } from './json-answer.ts'

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
  const written = keptList(items, answerBytes) ?? writtenList(items, answerBytes)
  // A page that ends early says so: who goes on at offset + limit misses nothing.
  const limit = written.count < items.length ? written.count : (find.limit ?? items.length)
  const pagination = { limit, offset: find.offset ?? 0, totalCount }
  const filterableFields = Object.keys(shape.symbols ?? {})
  const meta = JSON.stringify({ ...API_VERSIONS, filterableFields, pagination })
  return jsonTextAnswer(status, written.within('{"data":[', `],"meta":${meta}}\n`), answer.headers)
}

/** The items of a list as they are answered: how many there is room for, and their JSON between what stands around it. */
interface WrittenList {
  readonly count: number
  within(head: string, tail: string): string | Uint8Array
}

const ENCODER = new TextEncoder()
const COMMA = 0x2c

/** A list whose items are all encoded already, copied once; `undefined` for any other. */
function keptList(items: readonly unknown[], most: number): WrittenList | undefined {
  const texts: Uint8Array[] = []
  let length = 0
  for (const item of items) {
    const bytes = keptBytes(item)
    if (bytes === undefined) return undefined
    if (length + 1 + bytes.length > most && texts.length > 0) break
    length += 1 + bytes.length
    texts.push(bytes)
  }
  return {
    count: texts.length,
    within: (head, tail) => concatenated(ENCODER.encode(head), texts, ENCODER.encode(tail)),
  }
}

function concatenated(head: Uint8Array, texts: readonly Uint8Array[], tail: Uint8Array): Uint8Array {
  const commas = Math.max(0, texts.length - 1)
  const length = texts.reduce((sum, text) => sum + text.length, head.length + commas + tail.length)
  const all = new Uint8Array(length)
  all.set(head)
  let at = head.length
  for (const text of texts) {
    if (at > head.length) all[at++] = COMMA
    all.set(text, at)
    at += text.length
  }
  all.set(tail, at)
  return all
}

/** A list with items that are written for this answer. */
function writtenList(items: readonly unknown[], most: number): WrittenList {
  const texts = textsWithin(items, most)
  const pieces = texts.flatMap((text, position) => (position === 0 ? [text] : [',', text]))
  // Joined once: every further copy of a long text costs as much as writing it.
  return { count: texts.length, within: (head, tail) => [head, ...pieces, tail].join('') }
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
