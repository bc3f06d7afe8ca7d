import { createPublicKey, verify, type X509Certificate } from 'node:crypto'
import { get } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { checkOptions, type OptionRules } from '../../src/base/arguments.ts'
import { createClient } from '../../src/client/index.ts'
import { httpsFetch } from '../node/https-fetch.ts'
import { createSigningRequest } from '../node/signing-request.ts'
import { ConnectionFailure, failureOf } from './connection-failure.ts'
import type { IdentityFile } from './identity-file.ts'

/** How an identity enrolls. */
export interface EnrollOptions {
  /**
   * The key and certificate of an authority that the network knows, PEM: for tokens of the methods `ottca` and `ca`. A token of the
   * method `ott` makes a new key.
   */
  readonly credentials?: { readonly cert: string; readonly key: string }
  /** The name of the identity that a token of the method `ca` creates. */
  readonly name?: string
}

const OPTIONS: OptionRules<EnrollOptions> = { credentials: 'object', name: 'string' }

/** The claims of an enrollment token. */
interface Invitation {
  readonly controller: string
  readonly method: string
  readonly token: string
  readonly subject: string
}

/**
 * Enrolls by a token (the text of a JWT) of Portcullis or of a deployed controller, and answers the identity, which no other program knows
 * yet: write it to a file for its owner alone. The controller has to prove that it signed the token, and is trusted from then on.
 *
 * Rejects with a `TypeError` for what is no token, and with a {@link ConnectionFailure} when the controller does not take it:
 * `NOT_ALLOWED` where it was used before or has ended.
 *
 * @example
 * const identity = await enroll(await readFile('laptop.jwt', 'utf8'))
 * await writeFile('laptop.json', JSON.stringify(identity), { mode: 0o600 })
 */
export async function enroll(jwt: string, options: EnrollOptions = {}): Promise<IdentityFile> {
  checkOptions('enroll', options, OPTIONS)
  const { controller, method, token, subject } = invitationIn(jwt)
  if (!['ott', 'ottca', 'ca'].includes(method)) {
    throw new TypeError(`the token is for the method ${method}, by which no certificate is given: log in otherwise`)
  }
  const leaf = await leafOf(controller)
  if (!isSignedBy(jwt.trim(), leaf)) {
    throw new ConnectionFailure('NOT_AUTHENTICATED', `${controller} is not the controller that signed the token`)
  }
  const ca = await authoritiesOf(controller, leaf)
  const own = method === 'ott' ? undefined : options.credentials
  if (method !== 'ott' && own === undefined) throw new TypeError(`a token of the method ${method} needs credentials`)
  const { key, csr } = own === undefined ? await createSigningRequest(subject) : { key: own.key, csr: undefined }
  const client = createClient({ baseUrl: controller, fetch: httpsFetch({ ca, ...own }) })
  try {
    const { data } = await client.call('POST /enroll', {
      query: { method, ...(method !== 'ca' && { token }) },
      body: { ...(csr !== undefined && { clientCsr: csr }), ...(options.name !== undefined && { name: options.name }) },
    })
    const cert = own?.cert ?? String(Reflect.get(data, 'cert') ?? '')
    return {
      ztAPI: `${controller}/edge/client/v1`,
      ztAPIs: [`${controller}/edge/client/v1`],
      id: { cert: `pem:${cert}`, key: `pem:${key}`, ca: `pem:${ca}` },
    }
  } catch (error) {
    throw failureOf(error, 'enrollment')
  }
}

function invitationIn(jwt: string): Invitation {
  const [, payload = ''] = jwt.trim().split('.')
  try {
    const { iss, em, jti, sub } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const { protocol, origin } = new URL(iss)
    if (protocol === 'https:' && typeof em === 'string') {
      return { controller: origin, method: em, token: String(jti ?? ''), subject: String(sub ?? '') }
    }
  } catch {
    // It is said below.
  }
  throw new TypeError('enroll takes the text of an enrollment token, which is a JWT')
}

/** Milliseconds that a controller may take to show its certificate. */
const CONNECT_MS = 10_000

/** The certificate that a controller shows. Whether it is the right one the token tells, which its key signed. */
function leafOf(controller: string): Promise<X509Certificate> {
  const { hostname, port } = new URL(controller)
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    // Nothing is sent, and nothing believed but the certificate.
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false }, () => {
      const leaf = socket.getPeerX509Certificate()
      socket.destroy()
      if (leaf === undefined) reject(failureOf(new Error('it shows no certificate'), controller))
      else resolve(leaf)
    })
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error(`no answer within ${CONNECT_MS} ms`)))
    socket.on('error', (error) => reject(failureOf(error, controller)))
  })
}

const DIGESTS: Readonly<Record<string, string>> = {
  ...{ ES256: 'sha256', ES384: 'sha384', ES512: 'sha512' },
  ...{ RS256: 'sha256', RS384: 'sha384', RS512: 'sha512' },
}

function isSignedBy(jwt: string, { publicKey }: X509Certificate): boolean {
  const [header = '', payload = '', signature = ''] = jwt.split('.')
  try {
    const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const digest = DIGESTS[String(alg)]
    const isEllipticCurve = publicKey.asymmetricKeyType === 'ec'
    if (digest === undefined || String(alg).startsWith('ES') !== isEllipticCurve) return false
    const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }))
    const signed = Buffer.from(`${header}.${payload}`)
    return verify(digest, signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
  } catch {
    return false
  }
}

/** Bytes of a trust bundle: some hundred certificates. */
const MOST_BUNDLE_BYTES = 1024 * 1024

/** The network's authorities, PEM, from the controller that shows a certificate and no other. */
async function authoritiesOf(controller: string, leaf: X509Certificate): Promise<string> {
  const url = `${controller}/edge/client/v1/.well-known/est/cacerts`
  const base64 = await new Promise<string>((resolve, reject) => {
    const fail = (error: unknown) => reject(failureOf(error, 'trust bundle'))
    const request = get(url, { rejectUnauthorized: false, agent: false, timeout: CONNECT_MS }, (answer) => {
      if (Number(answer.headers['content-length'] ?? 0) > MOST_BUNDLE_BYTES)
        request.destroy(new Error('it is too long'))
      buffer(answer).then((bytes) => resolve(bytes.toString()), fail)
    })
    request.on('socket', (socket) =>
      socket.on('secureConnect', () => {
        // Both sockets have to lead to the same key.
        const shown = 'getPeerX509Certificate' in socket ? (socket as SecureSocket).getPeerX509Certificate() : undefined
        if (shown?.raw.equals(leaf.raw) !== true) request.destroy(new Error('another certificate is shown meanwhile'))
      }),
    )
    request.on('error', fail)
  })
  await import('reflect-metadata')
  const { X509Certificates } = await import('@peculiar/x509')
  const certificates = new X509Certificates(Buffer.from(base64, 'base64'))
  if (certificates.length === 0) throw new ConnectionFailure('CONTROLLER_UNREACHABLE', 'the trust bundle is empty')
  return certificates.map((certificate) => certificate.toString('pem')).join('\n')
}

interface SecureSocket {
  getPeerX509Certificate(): X509Certificate | undefined
}
