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
  const answer: unknown = await response.json().catch(() => {
    throw new ApiError(response.status, { message: 'the answer is no JSON: something else answered than a controller' })
  })
  if (!response.ok) throw new ApiError(response.status, errorOf(answer))
  return answer
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
