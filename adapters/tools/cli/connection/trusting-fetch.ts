import { readFile } from 'node:fs/promises'
import { isUntrusted } from '../../../../src/api-calls.ts'
import type { Fetch } from '../../../../src/client/index.ts'
import { httpsFetch } from '../../../web/node/index.ts'
import { UsageError } from '../command-line/usage.ts'

/** The certificates that a controller's certificate has to lead to, PEM, and their origin, for messages. */
export interface TrustBundle {
  readonly pem: string
  readonly source: string
}

/** The trust bundle in a file. Throws {@link UsageError}. */
export async function readTrustBundle(file: string): Promise<TrustBundle> {
  try {
    return { pem: await readFile(file, 'utf8'), source: file }
  } catch (error) {
    throw new UsageError(`--ca: '${file}' cannot be read`, { cause: error })
  }
}

/** Sends requests over TLS, trusting a bundle, or without a bundle the certificates of the system. */
export function trustingFetch(trusted: TrustBundle | undefined): Fetch {
  const send = httpsFetch(trusted === undefined ? {} : { ca: trusted.pem })
  return async (request) => {
    try {
      return await send(request)
    } catch (error) {
      throw withAdvice(error, trusted, new URL(request.url).origin)
    }
  }
}

function withAdvice(error: unknown, trusted: TrustBundle | undefined, origin: string): unknown {
  if (error instanceof Error && Reflect.get(error, 'code') === 'ECONNREFUSED') {
    return new Error(`nothing answers at ${origin}: is it served?`, { cause: error })
  }
  if (!isUntrusted(error)) return error
  const advice = trusted === undefined ? 'name its trust bundle with --ca' : `${trusted.source} is not its trust bundle`
  return new Error(`the controller's certificate is not trusted: ${advice}`, { cause: error })
}
