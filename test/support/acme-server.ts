import 'reflect-metadata'
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type TLSSocket } from 'node:tls'
import * as x509 from '@peculiar/x509'
import { calculateJwkThumbprint, decodeProtectedHeader, flattenedVerify, importJWK, type JWK } from 'jose'
import { type Issued, issue } from './https-certificates.ts'

/** The steps of an order, in their order. */
export const ACME_STEPS = [
  ...(['directory', 'newNonce', 'newAccount', 'newOrder', 'authorization', 'challenge', 'finalize'] as const),
  'certificate',
] as const
export type AcmeStep = (typeof ACME_STEPS)[number]

/** A fault of the server: it refuses, answers 500 or 429, sends nothing, or ends the connection. */
export type AcmeFault = 'refuses' | 'fails' | 'limits' | 'hangs' | 'is away'

interface Settings {
  /** Epoch ms, by which certificates are valid. */
  readonly now: () => number
  /** The port at which the hosts are served, on 127.0.0.1. */
  readonly port: () => number
  readonly lifeMs?: number
  readonly at?: number
}

interface PlayedOrder {
  readonly host: string
  readonly account: string
  readonly token: string
  status: 'pending' | 'ready' | 'valid' | 'invalid'
  error?: { readonly type: string; readonly detail: string }
  chain?: string
}

/** An ACME server (RFC 8555) on loopback, which looks at challenges by TLS-ALPN-01 (RFC 8737) over a socket. */
export class AcmeServer {
  readonly accounts = new Map<string, { readonly jwk: JWK; readonly contact: unknown }>()
  readonly orders: PlayedOrder[] = []
  /** The hosts of certificates, in the order in which they were issued. */
  readonly issued: string[] = []
  readonly ca: Issued
  readonly #settings: Settings
  readonly #nonces = new Set<string>()
  readonly #faults = new Map<AcmeStep, { readonly fault: AcmeFault; readonly host: string | undefined }>()
  readonly #reached = new Map<AcmeStep, () => void>()
  readonly #server = createServer((incoming, outgoing) => {
    this.#answer(incoming, outgoing).catch((error: unknown) => {
      if (error instanceof Refusal) send(outgoing, error.status, problemOf(error), { 'replay-nonce': this.#nonce() })
      else send(outgoing, 500, { detail: String(error) })
    })
  })
  #url = ''

  private constructor(settings: Settings, ca: Issued) {
    this.#settings = settings
    this.ca = ca
  }

  static async start(settings: Settings): Promise<AcmeServer> {
    const server = new AcmeServer(settings, await issue('test authority', undefined, { ca: true }))
    await new Promise<void>((resolve) => server.#server.listen(settings.at ?? 0, '127.0.0.1', resolve))
    const address = server.#server.address()
    server.#url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    return server
  }

  get directory(): string {
    return `${this.#url}/directory`
  }

  /** Has a step fail until `heal`, for every host or for one. The promise resolves when the step is reached. */
  break(step: AcmeStep, fault: AcmeFault, host?: string): Promise<void> {
    this.#faults.set(step, { fault, host })
    return new Promise((resolve) => this.#reached.set(step, resolve))
  }

  heal(): void {
    this.#faults.clear()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #nonce(): string {
    const nonce = randomBytes(16).toString('base64url')
    this.#nonces.add(nonce)
    return nonce
  }

  /** False where the step answers nothing. */
  #passes(step: AcmeStep, host: string | undefined, outgoing: ServerResponse): boolean {
    const { fault, host: only } = this.#faults.get(step) ?? {}
    if (fault === undefined || (only !== undefined && only !== host)) return true
    this.#reached.get(step)?.()
    if (fault === 'hangs') return false
    if (fault === 'is away') outgoing.destroy()
    else if (fault === 'fails') send(outgoing, 500, { detail: 'out of order' })
    else if (fault === 'limits') send(outgoing, 429, { detail: 'too many' }, { 'retry-after': '7200' })
    else throw new Refusal(403, 'rejectedIdentifier', `no certificate at ${step}`)
    return false
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = `${this.#url}${incoming.url}`
    const [, step = '', id = ''] = (incoming.url ?? '').split('/')
    const order = this.orders[Number(id)]
    if (isStep(step) && !this.#passes(step, order?.host ?? '', outgoing)) return
    if (step === 'directory') {
      const resources = ['newNonce', 'newAccount', 'newOrder'].map((name) => [name, `${this.#url}/${name}`])
      return send(outgoing, 200, Object.fromEntries(resources))
    }
    if (step === 'newNonce') return send(outgoing, 200, undefined, { 'replay-nonce': this.#nonce() })
    const { account, jwk, payload } = await this.#verified(incoming, url)
    const nonce = { 'replay-nonce': this.#nonce() }
    if (step === 'newAccount') return this.#account(jwk, payload, outgoing, nonce)
    if (account === undefined) throw new Refusal(400, 'accountDoesNotExist', 'no account')
    if (step === 'account') return send(outgoing, 200, { status: 'valid' }, nonce)
    if (step === 'newOrder') {
      const host = String(payload.identifiers[0].value)
      if (!this.#passes('newOrder', host, outgoing)) return
      const made: PlayedOrder = { host, account, token: randomBytes(16).toString('base64url'), status: 'pending' }
      const number = this.orders.push(made) - 1
      return send(outgoing, 201, this.#orderOf(number, made), { ...nonce, location: `${this.#url}/order/${number}` })
    }
    if (order === undefined || order.account !== account) throw new Refusal(404, 'malformed', 'no such order')
    const number = Number(id)
    if (step === 'order') return send(outgoing, 200, this.#orderOf(number, order), nonce)
    if (step === 'authorization') return send(outgoing, 200, this.#authorizationOf(number, order), nonce)
    if (step === 'challenge') {
      await this.#validate(order, jwk)
      return send(outgoing, 200, this.#authorizationOf(number, order).challenges[1], nonce)
    }
    if (step === 'finalize') {
      if (order.status !== 'ready') throw new Refusal(403, 'orderNotReady', `the order is ${order.status}`)
      await this.#certify(order, String(payload.csr))
      return send(outgoing, 200, this.#orderOf(number, order), nonce)
    }
    if (step !== 'certificate' || order.chain === undefined) throw new Refusal(404, 'malformed', 'nothing here')
    outgoing.writeHead(200, { 'content-type': 'application/pem-certificate-chain', ...nonce }).end(order.chain)
  }

  /** Takes the nonce, and verifies the signature for this address by the key of the account. */
  async #verified(incoming: IncomingMessage, url: string) {
    const chunks: Uint8Array[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const jws = JSON.parse(Buffer.concat(chunks).toString())
    const header = decodeProtectedHeader(jws)
    if (!this.#nonces.delete(String(header.nonce))) throw new Refusal(400, 'badNonce', 'the nonce is unknown')
    if (header.url !== url) throw new Refusal(401, 'unauthorized', 'signed for another address')
    const account = header.kid
    const jwk = account === undefined ? header.jwk : this.accounts.get(account)?.jwk
    if (jwk === undefined) throw new Refusal(400, 'accountDoesNotExist', 'no account of that key')
    const { payload } = await flattenedVerify(jws, await importJWK(jwk, 'ES256'), { algorithms: ['ES256'] })
    return { account, jwk, payload: payload.length === 0 ? {} : JSON.parse(Buffer.from(payload).toString()) }
  }

  async #account(
    jwk: JWK,
    { contact, termsOfServiceAgreed }: Record<string, unknown>,
    outgoing: ServerResponse,
    nonce: Record<string, string>,
  ) {
    if (termsOfServiceAgreed !== true) throw new Refusal(403, 'userActionRequired', 'agree to the terms')
    const location = `${this.#url}/account/${await calculateJwkThumbprint(jwk)}`
    const isKnown = this.accounts.has(location)
    this.accounts.set(location, { jwk, contact })
    send(outgoing, isKnown ? 200 : 201, { status: 'valid' }, { ...nonce, location })
  }

  #orderOf(number: number, { host, status, error }: PlayedOrder) {
    return {
      ...{ status, error, identifiers: [{ type: 'dns', value: host }] },
      authorizations: [`${this.#url}/authorization/${number}`],
      finalize: `${this.#url}/finalize/${number}`,
      ...(status === 'valid' && { certificate: `${this.#url}/certificate/${number}` }),
    }
  }

  #authorizationOf(number: number, { host, token, status: state, error }: PlayedOrder) {
    const status = state === 'ready' ? ('valid' as const) : state
    const challenges = ['http-01', 'tls-alpn-01'].map((type) => ({
      ...{ type, token, status, error: type === 'tls-alpn-01' ? error : undefined },
      url: `${this.#url}/challenge/${number}`,
    }))
    return { status, identifier: { type: 'dns', value: host }, challenges }
  }

  /** Looks at the host over a socket, as RFC 8737 has it. */
  async #validate(order: PlayedOrder, jwk: JWK): Promise<void> {
    const proof = `${order.token}.${await calculateJwkThumbprint(jwk)}`
    const problem = await this.#challengeProblem(order.host, createHash('sha256').update(proof).digest())
    order.status = problem === undefined ? 'ready' : 'invalid'
    if (problem !== undefined) order.error = { type: 'urn:ietf:params:acme:error:tls', detail: problem }
  }

  #challengeProblem(host: string, digest: Uint8Array): Promise<string | undefined> {
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: this.#settings.port(), servername: host, rejectUnauthorized: false }
      const socket = connect({ ...options, ALPNProtocols: ['acme-tls/1'] }, () => {
        resolve(shownProblem(socket, host, digest))
        socket.destroy()
      })
      socket.once('error', ({ message }) => resolve(message))
    })
  }

  async #certify(order: PlayedOrder, csr: string): Promise<void> {
    const request = new x509.Pkcs10CertificateRequest(Buffer.from(csr, 'base64url'))
    const names = request.extensions
      .filter((extension) => extension instanceof x509.SubjectAlternativeNameExtension)
      .flatMap((extension) => extension.names.items.map(({ value }) => value))
    if (!(await request.verify()) || names.join() !== order.host) throw new Refusal(400, 'badCSR', 'another host')
    const notBefore = Math.floor(this.#settings.now() / 1000) * 1000
    const certificate = await x509.X509CertificateGenerator.create({
      ...{ serialNumber: randomBytes(8).toString('hex'), subject: '', issuer: this.ca.name },
      ...{ publicKey: request.publicKey, signingKey: this.ca.keys.privateKey },
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      notBefore: new Date(notBefore),
      notAfter: new Date(notBefore + (this.#settings.lifeMs ?? NINETY_DAYS_MS)),
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: order.host }], true)],
    })
    order.chain = `${certificate.toString('pem')}\n${this.ca.cert}`
    order.status = 'valid'
    this.issued.push(order.host)
  }
}

const NINETY_DAYS_MS = 90 * 86_400_000
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31'

/** The problem of a certificate that a host shows for a challenge; undefined for the certificate that the challenge asks for. */
function shownProblem(socket: TLSSocket, host: string, digest: Uint8Array): string | undefined {
  if (socket.alpnProtocol !== 'acme-tls/1') return 'acme-tls/1 was not agreed on'
  const certificate = new x509.X509Certificate(socket.getPeerCertificate().raw)
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? []
  if (names.length !== 1 || names[0]?.type !== 'dns' || names[0].value !== host) return 'it is for another name'
  const extension = certificate.getExtension(ACME_IDENTIFIER)
  // An OCTET STRING of 32 bytes.
  const expected = Buffer.concat([Uint8Array.of(0x04, 0x20), digest])
  const isProof = extension?.critical === true && expected.equals(Buffer.from(extension.value))
  return isProof ? undefined : 'it proves another challenge'
}

/** An answer of the server that is a problem (RFC 7807). */
class Refusal extends Error {
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, detail: string) {
    super(detail)
    this.status = status
    this.type = type
  }
}

function problemOf({ type, message }: Refusal): object {
  return { type: `urn:ietf:params:acme:error:${type}`, detail: message }
}

function isStep(step: string): step is AcmeStep {
  return ACME_STEPS.some((known) => known === step)
}

function send(outgoing: ServerResponse, status: number, body?: unknown, headers: Record<string, string> = {}): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  outgoing.writeHead(status, { 'content-type': type, ...headers }).end(body === undefined ? '' : JSON.stringify(body))
}
