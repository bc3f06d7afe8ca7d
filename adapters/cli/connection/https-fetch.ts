import { readFile } from 'node:fs/promises'
import { request as send } from 'node:https'
import { buffer } from 'node:stream/consumers'
import type { Fetch } from '../../../src/client/index.ts'
import { UsageError } from '../settings/usage-error.ts'

/** Sends requests over TLS, trusting the certificates of a PEM file, or those of the system when there is none. */
export async function httpsFetch(caFile: string | undefined): Promise<Fetch> {
  const ca = caFile === undefined ? {} : { ca: await readPem(caFile) }
  return async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    return new Promise((resolve, reject) => {
      const options = { ...ca, method: request.method, headers: Object.fromEntries(request.headers), agent: false }
      const outgoing = send(request.url, options, (incoming) => {
        const status = incoming.statusCode ?? 502
        buffer(incoming).then((content) => resolve(new Response(new Uint8Array(content), { status })), reject)
      })
      outgoing.on('error', (error) => reject(withAdvice(error, caFile)))
      outgoing.end(body)
    })
  }
}

/** Certificates that OpenSSL cannot lead to one that it trusts. */
const UNTRUSTED = ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN']

function withAdvice(error: Error, caFile: string | undefined): Error {
  if (!UNTRUSTED.includes(String(Reflect.get(error, 'code')))) return error
  const advice = caFile === undefined ? 'name its trust bundle with --ca' : `${caFile} is not its trust bundle`
  return new Error(`the controller's certificate is not trusted: ${advice}`, { cause: error })
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--ca: '${file}' cannot be read`, { cause: error })
  }
}
