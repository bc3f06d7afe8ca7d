import { createPublicKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { RouterCredentials } from '../state/opened-socket.ts'
import { newRouterKey } from './router-key.ts'

/** A router that a controller enrolled: who it is, how it proves it, and where its controllers are. */
export interface RouterIdentity extends RouterCredentials {
  readonly id: string
  /** Whether endpoints connect to it, or it only passes on what other routers send. */
  readonly kind: 'edge' | 'transit'
  /** Addresses of controllers, such as `tls:controller.example.org:6262`. */
  readonly controllers: readonly string[]
}

/** An enrollment token of a router, as its controller signed it. */
interface EnrollmentToken {
  readonly iss: string
  readonly sub: string
  readonly jti: string
  readonly em: string
  readonly ctrls: readonly string[]
}

const ANSWER_MS = 30_000
const LONGEST_ANSWER = 1_048_576
const METHODS: readonly string[] = ['erott', 'trott']

/**
 * Enrolls a router by the token that its controller made for it, of Portcullis or a deployed one. `hosts` are the names and
 * addresses under which it will be reached. Rejects where the token is none, expired or used, or where another server answers than
 * the one that signed it.
 */
export async function enrollRouter(jwt: string, hosts: readonly string[]): Promise<RouterIdentity> {
  const token = readToken(jwt)
  const issuer = new URL(token.iss)
  const shown = await certificateOf(issuer)
  const { compactVerify } = await import('jose')
  const isSigned = await compactVerify(jwt.trim(), createPublicKey(shown.toString())).then(
    () => true,
    () => false,
  )
  if (!isSigned) throw new Error(`${issuer.host} is not the controller that signed the token`)
  const { keyPem: key, clientCsrPem, serverCsrPem } = await newRouterKey(token.sub, hosts)
  const body = JSON.stringify({ certCsr: clientCsrPem, serverCertCsr: serverCsrPem })
  const path = `/edge/client/v1/enroll?method=${token.em}&token=${encodeURIComponent(token.jti)}`
  const { cert: clientCert, serverCert, ca } = await post(new URL(path, issuer), body, shown.fingerprint256)
  const kind = token.em === 'trott' ? 'transit' : 'edge'
  return { id: token.sub, kind, key, clientCert, serverCert, ca, controllers: token.ctrls }
}

function readToken(jwt: string): EnrollmentToken {
  const [, payload = ''] = jwt.trim().split('.')
  let claims: Record<string, unknown> = {}
  try {
    claims = Object(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  } catch {
    throw new Error('this is no enrollment token')
  }
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
  const [iss, sub, jti, em] = [text('iss'), text('sub'), text('jti'), text('em')]
  if (iss === '' || sub === '' || jti === '' || !METHODS.includes(em)) {
    throw new Error('this is no enrollment token of a router')
  }
  const exp = Number(claims.exp)
  if (exp * 1000 < Date.now()) throw new Error('the enrollment token has expired: ask for another one')
  const listed = Array.isArray(claims.ctrls) ? claims.ctrls.filter((address) => typeof address === 'string') : []
  const one = text('ctrl')
  return { iss, sub, jti, em, ctrls: listed.length > 0 || one === '' ? listed : [one] }
}

/** The certificate that a server shows, trusted by nobody yet. */
async function certificateOf({ hostname, port }: URL): Promise<X509Certificate> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const names = isIP(host) === 0 ? { servername: host } : {}
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...names })
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer in time')))
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return new X509Certificate(raw)
}

/** Sends a request to the server of a certificate, and to no other one. */
async function post(
  url: URL,
  body: string,
  fingerprint256: string,
): Promise<Record<'cert' | 'serverCert' | 'ca', string>> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const sent = request(url, { method: 'POST', headers, rejectUnauthorized: false, agent: false, timeout: ANSWER_MS })
  sent.once('timeout', () => sent.destroy(new Error('no answer in time')))
  sent.once('socket', (socket) => {
    socket.once('secureConnect', () => {
      const isSame = 'getPeerCertificate' in socket && fingerprintOf(socket) === fingerprint256
      if (isSame) sent.end(body)
      else sent.destroy(new Error('another server answered'))
    })
  })
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const piece of response) {
    text += String(piece)
    if (text.length > LONGEST_ANSWER) throw new Error('the answer of the controller is too long')
  }
  const answer = Object(JSON.parse(text))
  if (response.statusCode !== 200) {
    throw new Error(
      `the controller refused the enrollment: ${response.statusCode} ${String(Object(answer.error).message)}`,
    )
  }
  const { cert, serverCert, ca } = Object(answer.data)
  const isWhole = [cert, serverCert, ca].every((pem) => typeof pem === 'string' && pem !== '')
  if (!isWhole) throw new Error('the controller answered without certificates')
  return { cert, serverCert, ca }
}

function fingerprintOf(socket: object): unknown {
  return Object(Object(socket).getPeerCertificate()).fingerprint256
}
