import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { PlainAnswer } from '../../../src/index.ts'

/** The codings of files and answers, the smallest first. */
export const CODINGS = ['br', 'gzip'] as const

/** Reports whether `accept-encoding` takes a coding: it is named, and not with the weight 0. */
function takes(accepted: string | null, coding: string): boolean {
  return (accepted ?? '').split(',').some((one) => {
    const [name = '', weight = ''] = one
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/)
    return name === coding && !/^q=0(\.0*)?$/.test(weight)
  })
}

/** The coding in which a caller takes an answer; undefined for a caller that takes none. */
export function codingFor(headers: Headers): (typeof CODINGS)[number] | undefined {
  return CODINGS.find((one) => takes(headers.get('accept-encoding'), one))
}

/** Answers of fewer bytes fit into a packet or two as they are. */
const LEAST_BYTES = 4096
/** The APIs that the page calls. Endpoints and routers get their answers as they always did. */
const OF_PAGE = /\/(?:edge\/management|portcullis)\//

/** Quick rather than small: an answer is sent once. */
const COMPRESS = {
  br: (bytes: Uint8Array) => BROTLI(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes: Uint8Array) => GZIP(bytes, { level: 4 }),
} as const
const BROTLI = promisify(brotliCompress)
const GZIP = promisify(gzip)

interface AskedFor {
  readonly method: string
  readonly url: string
  readonly headers: Headers
}

/** The same answer in a coding that its caller takes, where it is long. The work is done beside the event loop. Streams stay as they are. */
export async function compressed(request: AskedFor, answer: PlainAnswer): Promise<PlainAnswer> {
  const { body, headers } = answer
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return answer
  if (body.length < LEAST_BYTES || !OF_PAGE.test(request.url)) return answer
  const coding = codingFor(request.headers)
  if (coding === undefined || 'content-encoding' in headers) return answer
  const bytes = await COMPRESS[coding](typeof body === 'string' ? new TextEncoder().encode(body) : body)
  const { 'content-length': _, vary, ...others } = headers
  const varying = vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`
  return { ...answer, headers: { ...others, 'content-encoding': coding, vary: varying }, body: bytes }
}

/** The same for a web `Response`. */
export async function compressedResponse(request: Request, response: Response): Promise<Response> {
  const isText = response.headers.get('content-type') === 'application/json'
  if (!isText || !OF_PAGE.test(request.url) || codingFor(request.headers) === undefined) return response
  const body = new Uint8Array(await response.arrayBuffer())
  const headers = Object.fromEntries(response.headers)
  const answer = await compressed(request, { status: response.status, headers, body })
  const bytes = answer.body instanceof Uint8Array ? new Uint8Array(answer.body) : null
  return new Response(bytes, { status: answer.status, headers: answer.headers })
}
