import { createPublicKey, type X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { connect } from 'node:tls'
import { runtime } from '../../../src/concurrency/process-runtime.ts'

/** The claims of an enrollment token. No claim is trusted before {@link provenIssuer} has found the signer. */
export interface EnrollmentToken {
  /** The address of its controller: scheme, host and port. */
  readonly issuer: URL
  /** The enrollment method, for example `ott`. */
  readonly method: string
  /** The id of the identity or router that it enrolls, empty for `ca`. */
  readonly subject: string
  /** The secret by which the controller finds the enrollment, empty for `ca`. */
  readonly token: string
  /** Epoch milliseconds; absent from a token that does not expire. */
  readonly expiresAt?: number
  /** Control addresses, in the tokens of routers. */
  readonly controllers: readonly string[]
}

/**
 * The claims of an enrollment token, the text of a JWT.
 *
 * Throws a `TypeError` for any other text.
 */
export function readEnrollmentToken(jwt: string): EnrollmentToken {
  const claims = claimsIn(jwt)
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
  const issuer = URL.canParse(text('iss')) ? new URL(new URL(text('iss')).origin) : undefined
  if (issuer?.protocol !== 'https:' || text('em') === '') {
    throw new TypeError(`this is no enrollment token${isLikePath(jwt) ? pathAdvice(jwt) : ''}`)
  }
  const listed = Array.isArray(claims.ctrls) ? claims.ctrls.filter((address) => typeof address === 'string') : []
  const one = text('ctrl')
  return {
    issuer,
    method: text('em'),
    subject: text('sub'),
    token: text('jti'),
    ...(typeof claims.exp === 'number' && { expiresAt: claims.exp * 1000 }),
    controllers: listed.length > 0 || one === '' ? listed : [one],
  }
}

/**
 * Whether an invalid token is probably the path of a file. A damaged token never counts as a path, because it is secret; it begins as JSON
 * does.
 */
function isLikePath(text: string): boolean {
  return /^(?!eyJ)[^\r\n]{1,255}$/.test(text) && /[\\/]|\.(jwt|json|token|txt)$/i.test(text)
}

function pathAdvice(path: string): string {
  return `: '${path}' looks like the path of a file; give what is in it, which is await readFile('${path}', 'utf8')`
}

function claimsIn(jwt: string): Record<string, unknown> {
  const [, payload = ''] = jwt.trim().split('.')
  try {
    return Object(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  } catch {
    return {}
  }
}

/** A server that accepted a request or a connection did not answer in time. */
export class AnsweredTooLate extends Error {
  readonly code = 'TIMED_OUT'

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1000} s`)
    this.name = 'AnsweredTooLate'
  }
}

/** Milliseconds for a whole enrollment, unless its caller says otherwise. */
export const ENROLLMENT_MS = 30_000
/** Bytes of an answer: a trust bundle of some hundred certificates fits. */
const LONGEST_ANSWER = 1_048_576

/** The answer of a {@link TokenIssuer}. */
export interface IssuerAnswer {
  readonly status: number
  readonly body: string
}

/** Runs work for `timeoutMs` at most; its signal is aborted then. Rejects as `work` does, and with {@link AnsweredTooLate}. */
export async function inTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const end = new AbortController()
  const failure = new AnsweredTooLate(timeoutMs)
  const cancel = runtime.timer(timeoutMs, () => end.abort(failure), true)
  try {
    return await work(end.signal)
  } catch (error) {
    // The timeout is the cause of any later error.
    throw end.signal.aborted ? failure : error
  } finally {
    cancel()
  }
}

/**
 * The controller that signed an enrollment token. It is identified by its certificate, because its authorities are not trusted yet: a
 * request goes only to a server that shows this certificate. Requests are aborted by `signal`.
 */
export class TokenIssuer {
  readonly #url: URL
  readonly #certificate: X509Certificate
  readonly #signal: AbortSignal

  constructor(url: URL, certificate: X509Certificate, signal: AbortSignal) {
    this.#url = url
    this.#certificate = certificate
    this.#signal = signal
  }

  /** Sends a request; a body is JSON. Rejects if another server answers, the answer is late, or it is too long. */
  ask(path: string, body?: unknown): Promise<IssuerAnswer> {
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#url), {
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        rejectUnauthorized: false,
        agent: false,
        signal: this.#signal,
      })
      // This also reports a failure after the head of the answer.
      sent.on('error', reject)
      sent.once('socket', (socket) => {
        socket.once('secureConnect', () => {
          // Both sockets must lead to the same key before anything is sent.
          if (shownBy(socket)?.raw.equals(this.#certificate.raw) !== true)
            sent.destroy(new Error('another server answered'))
          else sent.end(body === undefined ? undefined : JSON.stringify(body))
        })
      })
      sent.once('response', (answer) => {
        textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 0, body: text }), reject)
      })
    })
  }

  /** The authorities of the network, PEM. */
  async authorities(): Promise<string> {
    const { body } = await this.ask('/edge/client/v1/.well-known/est/cacerts')
    // The library of the next import reads decorator metadata while it loads.
    await import('reflect-metadata')
    const { X509Certificates } = await import('@peculiar/x509')
    const certificates = new X509Certificates(Buffer.from(body, 'base64'))
    if (certificates.length === 0) throw new Error('the trust bundle is empty')
    return certificates.map((certificate) => certificate.toString('pem')).join('\n')
  }
}

/**
 * The controller at the issuer's address of a token, if its key signed the token; otherwise `undefined`. Rejects when no server answers
 * there, or `signal` is aborted.
 */
export async function provenIssuer(
  jwt: string,
  { issuer }: EnrollmentToken,
  signal: AbortSignal,
): Promise<TokenIssuer | undefined> {
  const certificate = await certificateAt(issuer, signal)
  const { compactVerify } = await import('jose')
  const isSigned = await compactVerify(jwt.trim(), createPublicKey(certificate.toString())).then(
    () => true,
    () => false,
  )
  return isSigned ? new TokenIssuer(issuer, certificate, signal) : undefined
}

/** The certificate that a server shows. Nothing is sent to the server, and nothing trusted. */
async function certificateAt({ hostname, port }: URL, signal: AbortSignal): Promise<X509Certificate> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const names = isIP(host) === 0 ? { servername: host } : {}
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...names })
  try {
    await once(socket, 'secureConnect', { signal })
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    throw error
  }
  const certificate = shownBy(socket)
  socket.destroy()
  if (certificate === undefined) throw new Error('it shows no certificate')
  return certificate
}

/** The certificate of the other end of a TLS socket. */
function shownBy(socket: object): X509Certificate | undefined {
  return 'getPeerX509Certificate' in socket ? (socket as SecureSocket).getPeerX509Certificate() : undefined
}

interface SecureSocket {
  getPeerX509Certificate(): X509Certificate | undefined
}

async function textOf(answer: Readable): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of answer) {
    length += piece.length
    if (length > LONGEST_ANSWER) throw new Error('the answer of the controller is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
