import { ApiError, type ApiErrorBody } from './types.ts'

/** What some operations answer that is neither JSON nor an image, in its own form. */
const TEXTS = ['application/jwt', 'application/pkcs7-mime', 'text/yaml']

/**
 * What a response holds: JSON, the text of a token or a document, or the bytes of an image. Throws {@link ApiError} when
 * the controller refused, or when what answered is no controller.
 */
export async function readAnswer(response: Response): Promise<unknown> {
  const [mediaType = ''] = (response.headers.get('content-type') ?? '').split(';')
  if (response.ok && mediaType.startsWith('image/')) return new Uint8Array(await response.arrayBuffer())
  if (response.ok && TEXTS.includes(mediaType)) return response.text()
  const text = await response.text()
  const refused = (error: ApiErrorBody | undefined) => new ApiError(response.status, error, retryAfterMs(response))
  const answer = parsed(text)
  if (answer === undefined)
    throw refused({ message: 'the answer is no JSON: something else answered than a controller' })
  if (!response.ok) throw refused(errorOf(answer))
  return answer
}

/** What JSON text says; undefined when it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Controllers say it in seconds; the other form of the header, an instant, is not theirs. */
function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10)
  return Number.isNaN(seconds) ? undefined : seconds * 1000
}

/** The refusal inside of the envelope, or without one: a body that is too large is answered bare. */
function errorOf(answer: unknown): ApiErrorBody | undefined {
  if (!isObject(answer)) return undefined
  if (isObject(answer.error)) return answer.error
  return typeof answer.code === 'string' ? answer : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
