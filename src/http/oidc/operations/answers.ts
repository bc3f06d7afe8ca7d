import type { Answer } from '../../operations/answer.ts'

/** A JSON answer without envelope, as OAuth 2.0 has it. */
export function json(body: unknown, further: Omit<Answer, 'raw'> = {}): Answer {
  return {
    ...further,
    raw: `${JSON.stringify(body)}\n`,
    headers: { 'content-type': 'application/json', ...further.headers },
  }
}

/** Plain text. */
export function text(body: string, further: Omit<Answer, 'raw'> = {}): Answer {
  return { ...further, raw: body, headers: { 'content-type': 'text/plain; charset=utf-8', ...further.headers } }
}

/** Sends the client elsewhere; a browser that does not follow shows the way. */
export function found(location: string): Answer {
  return { raw: '', status: 302, headers: { location, 'content-type': 'text/plain; charset=utf-8' } }
}
