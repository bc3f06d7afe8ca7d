import type { PlainAnswer } from '../../exchange/plain-exchange.ts'

type GivenHeaders = Readonly<Record<string, string>>

/** A JSON answer. Bodies end with a line feed, as deployed clients have always seen them. */
export function jsonAnswer(status: number, body: unknown, headers?: GivenHeaders): PlainAnswer {
  return jsonTextAnswer(status, `${JSON.stringify(body)}\n`, headers)
}

/** A JSON answer that is written already, with its line feed. */
export function jsonTextAnswer(status: number, text: string | Uint8Array, headers?: GivenHeaders): PlainAnswer {
  return answerOf(status, 'application/json', text, headers)
}

/** An answer of a media type, with further headers. Throws TypeError for a header that is none. */
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
