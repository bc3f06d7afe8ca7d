import { utf8Bytes } from '../../base/bytes.ts'
import type { Profile } from '../../base/compatibility.ts'
import type { TokenProblem, TokenRefused } from '../../base/errors.ts'
import type { Limits } from '../../base/limits.ts'
import type { WireTexts } from '../../context/wire-texts.ts'
import type { FindQuery } from '../../ports/record-storage.ts'
import type { PlainAnswer } from '../exchange.ts'
import type { Answer, OperationShape } from '../operations/operation.ts'
import { ITEMS_PER_LOOK, type KeptLists, LIST_HEAD } from './kept-lists.ts'

/** Versions of the API and of the enrollment protocol, in the `meta` of every answer. */
export const API_VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' } as const

/** A request for a channel on a connection that does not go on as one. */
const UPGRADE_REQUIRED = 426

/**
 * Wraps the answer of an operation: `data` and `meta`, with pagination and filterable fields for a list. A list is no
 * longer than `answerBytes` and is written a slice at a time.
 */
export async function envelope(
  shape: OperationShape,
  answer: Answer,
  find: FindQuery,
  { answerBytes }: Pick<Limits, 'answerBytes'>,
  { answersDeployedStatus }: Pick<Profile, 'answersDeployedStatus'>,
  keptLists: KeptLists,
  turn: () => Promise<void> | undefined,
): Promise<PlainAnswer> {
  const deployed = answersDeployedStatus ? shape.deployedStatus : undefined
  const status = answer.status ?? deployed ?? shape.status ?? 200
  if (answer.upgrade !== undefined) {
    const headers = { upgrade: 'websocket', connection: 'upgrade', ...answer.headers }
    return { status: UPGRADE_REQUIRED, headers, body: '', upgrade: answer.upgrade }
  }
  if (answer.stream !== undefined) return { status, headers: { ...answer.headers }, body: answer.stream }
  if (answer.raw !== undefined) {
    return answerOf(status, shape.produces ?? 'application/octet-stream', answer.raw, answer.headers)
  }
  // Callers that waited for the same facts go on at the same time.
  await turn()
  if (answer.page === undefined && shape.produces !== undefined) {
    return jsonTextAnswer(status, keptLists.texts.jsonText(answer.data), answer.headers)
  }
  if (answer.page === undefined) {
    const text = {
      data: keptLists.texts.jsonText(answer.data ?? {}),
      meta: JSON.stringify({ ...API_VERSIONS, ...answer.meta }),
    }
    return jsonTextAnswer(status, `{"data":${text.data},"meta":${text.meta}}\n`, answer.headers)
  }
  const { items, totalCount } = answer.page
  const tailOf = (count: number) => {
    // A page that ends early says so: a client that goes on at offset + limit misses nothing.
    const limit = count < items.length ? count : (find.limit ?? items.length)
    const pagination = { limit, offset: find.offset ?? 0, totalCount }
    const filterableFields = Object.keys(shape.symbols ?? {})
    return `],"meta":${JSON.stringify({ ...API_VERSIONS, filterableFields, pagination })}}\n`
  }
  const kept = await keptLists.bytes(items, answerBytes, tailOf, turn)
  const body = kept ?? (await listText(keptLists.texts, items, answerBytes, tailOf, turn))
  return jsonTextAnswer(status, body, answer.headers)
}

/** The JSON of a list whose items are written for this answer. */
async function listText(
  wireTexts: WireTexts,
  items: readonly unknown[],
  most: number,
  tailOf: (count: number) => string,
  turn: () => Promise<void> | undefined,
): Promise<string> {
  const texts = await textsWithin(wireTexts, items, most, turn)
  await turn()
  const pieces = texts.flatMap((text, position) => (position === 0 ? [text] : [',', text]))
  // Joined once: every further copy of a long text costs as much as writing it.
  return [LIST_HEAD, ...pieces, tailOf(texts.length)].join('')
}

/** The JSON of as many items as fit into `most` bytes, and of one at least. */
async function textsWithin(
  wireTexts: WireTexts,
  items: readonly unknown[],
  most: number,
  turn: () => Promise<void> | undefined,
): Promise<readonly string[]> {
  const texts: string[] = []
  // No unit of a text takes more than three bytes: it is counted where that may matter.
  let bytesAtMost = 0
  let bytes = 0
  let counted = 0
  for (const item of items) {
    if (texts.length % ITEMS_PER_LOOK === ITEMS_PER_LOOK - 1) await turn()
    const text = wireTexts.jsonText(item)
    bytesAtMost += 1 + 3 * text.length
    if (bytesAtMost > most) {
      for (; counted < texts.length; counted += 1) bytes += 1 + utf8Bytes(texts[counted] ?? '')
      if (bytes + 1 + utf8Bytes(text) > most && texts.length > 0) break
    }
    texts.push(text)
  }
  return texts
}

/** The facts of a controller that each of its answers carries. */
export interface ControllerIdentity {
  /** Changes with every start of the process: SDKs then send everything anew. */
  readonly instanceId: string
  /** The version that clients read, with a leading `v`. */
  readonly version: string
}

/**
 * The headers of every answer, whatever its outcome. An adapter that refuses a request before the controller sees it sends them as well.
 */
export function answerHeaders({ instanceId, version }: ControllerIdentity): Readonly<Record<string, string>> {
  return {
    'ziti-instance-id': instanceId,
    server: `ziti-controller/${version}`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
}

type GivenHeaders = Readonly<Record<string, string>>

/** A JSON answer. Bodies end with a line feed, as deployed clients have always seen them. */
export function jsonAnswer(status: number, body: unknown, headers?: GivenHeaders): PlainAnswer {
  return jsonTextAnswer(status, `${JSON.stringify(body)}\n`, headers)
}

/** A JSON answer that is written already, with its line feed. */
function jsonTextAnswer(status: number, text: string | Uint8Array, headers?: GivenHeaders): PlainAnswer {
  return answerOf(status, 'application/json', text, headers)
}

/** An answer of a media type, with further headers. Throws TypeError for an invalid header. */
export function answerOf(
  status: number,
  contentType: string,
  body: string | Uint8Array,
  headers?: GivenHeaders,
): PlainAnswer {
  const type = { 'content-type': contentType }
  if (headers === undefined) return { status, headers: type, body }
  return { status, headers: Object.fromEntries(new Headers({ ...type, ...headers })), body }
}

const DESCRIPTIONS: Readonly<Record<TokenProblem, string>> = {
  missing: 'no matching token was provided',
  invalid: 'token is invalid',
  expired: 'token expired',
}

/** How many characters signers may have in a challenge: most clients read 16 KiB of headers and refuse more. */
const MOST_CHARACTERS = 4096

/** The challenge that asks for a token of external signers; `undefined` when there is no signer to ask for. */
export function tokenChallenge({
  factor,
  problem,
  signers,
}: Pick<TokenRefused, 'factor' | 'problem' | 'signers'>): string | undefined {
  let characters = 0
  const named = signers.filter(({ id, issuer }) => {
    characters += id.length + issuer.length
    return characters <= MOST_CHARACTERS
  })
  if (named.length === 0) return undefined
  const ids = named.map(({ id }) => quotable(id)).join('|')
  const issuers = named.map(({ issuer }) => quotable(issuer)).join('|')
  const realm = `openziti-${factor}-ext-jwt`
  return `Bearer realm="${realm}" error="${problem}" error_description="${DESCRIPTIONS[problem]}" id="${ids}" issuer="${issuers}"`
}

/** Keeps the characters that may stand between quotes in a header: printable ASCII without quotes. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
