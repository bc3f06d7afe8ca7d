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

function errorOf(answer: unknown): ApiErrorBody | undefined {
  const error: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'error') : undefined
  return typeof error === 'object' && error !== null ? error : undefined
}
