import { createHash, X509Certificate } from 'node:crypto'
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { engineOf } from '../src/controller/guarded-engine.ts'
import { contextOf } from '../src/engine/entity-services.ts'
import { createPasswordHasher, findNativeArgon2id, wasmArgon2id } from '../src/platform/argon2-password-hasher.ts'
import { newKey, signingRequest } from '../test/contract/http/signing-request.ts'
import type { BenchRow } from './row.ts'

const CLIENT = 'https://controller.test:1280/edge/client/v1'
const JSON_TYPE = { 'content-type': 'application/json' }

/** Who-are-you as clients ask for it (W11 to W13), each as a share of what its cryptography alone can do. */
export async function benchCredentials(): Promise<BenchRow[]> {
  return [
    ...(await passwordLogin()),
    ...(await enrollmentAndCertificateLogin()),
    await tokenLogin(),
    await sessionToken(),
  ]
}

/** The controller as a client sees it. */
async function controllerWith(options: Parameters<typeof createTestController>[0] = {}) {
  const controller = await createTestController(options)
  const send = async (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    cert?: string,
  ) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const request = new Request(`${CLIENT}${path}`, { method, headers: { ...JSON_TYPE, ...headers }, ...content })
    const clientCertificates = cert === undefined ? [] : [new Uint8Array(new X509Certificate(cert).raw)]
    const response = await controller.fetch(request, { remoteAddress: '127.0.0.1', clientCertificates })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${text}`)
    return JSON.parse(text).data
  }
  return { controller, send, management: await controller.asAdmin() }
}

async function passwordLogin(): Promise<BenchRow[]> {
  const { send } = await controllerWith({ passwordHasher: createPasswordHasher() })
  const argon2id = (await findNativeArgon2id()) ?? wasmArgon2id
  const cost = { memory: 19_456, passes: 2, lanes: 1 }
  const input = { password: new TextEncoder().encode('secret'), salt: new Uint8Array(16), cost, length: 32 }
  const ceiling = await perSecond(() => argon2id(input), 2)
  const waits: number[] = []
  let isOver = false
  const { token } = await send('POST', '/authenticate?method=password', TEST_ADMIN)
  const others = (async () => {
    while (!isOver) {
      const from = performance.now()
      await send('GET', '/current-identity', undefined, { 'zt-session': token })
      waits.push(performance.now() - from)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })()
  const value = await perSecond(() => send('POST', '/authenticate?method=password', TEST_ADMIN), 16)
  isOver = true
  await others
  return [
    {
      name: 'password login, Argon2id at OWASP parameters (W12)',
      value,
      unit: '/s',
      ceiling: { name: 'Argon2id, two at once', value: ceiling },
      target: '>=0.85',
    },
    { name: 'GET /current-identity meanwhile, p99 (W12)', value: quantile(waits, 0.99), unit: 'ms', target: '<=20 ms' },
  ]
}

async function enrollmentAndCertificateLogin(): Promise<BenchRow[]> {
  const { controller, send, management } = await controllerWith({ now: Date.now() })
  const key = newKey()
  const clientCsr = signingRequest(key)
  const { pki } = contextOf(engineOf(controller.engine))
  const request = { csrPem: clientCsr, spiffeId: 'spiffe://bench/identity/x', now: controller.clock.now() }
  const tokens: string[] = []
  for (let index = 0; index < 3000; index += 1) {
    const body = { name: `device ${index}`, type: 'Device', isAdmin: false, enrollment: { ott: true } } as const
    const { data } = await management.call('POST /identities', { body })
    const { data: shown } = await management.call('GET /identities/{id}', { params: { id: data.id } })
    const token = shown.enrollment.ott?.token
    if (token !== undefined) tokens.push(token)
  }
  const issue = await perSecond(() => pki.issueClientCertificate(request), 1)
  let cert = ''
  const enroll = await perSecond(async () => {
    const token = tokens.pop()
    if (token === undefined) throw new Error('more tokens are needed')
    ;({ cert } = await send('POST', '/enroll/ott', { token, clientCsr }))
  }, 1)
  const leaf = new X509Certificate(cert)
  const ca = new X509Certificate(controller.caPem)
  const parse = await perSecond(async () => {
    const again = new X509Certificate(leaf.raw)
    createHash('sha1').update(again.raw).digest()
    again.verify(ca.publicKey)
  }, 1)
  const login = await perSecond(() => send('POST', '/authenticate?method=cert', {}, {}, cert), 1)
  return [
    {
      name: 'enrollment by one-time token and CSR (W13)',
      value: enroll,
      unit: '/s',
      ceiling: { name: 'certificate issued for a checked CSR', value: issue },
      target: '>=0.80',
    },
    {
      name: 'certificate login',
      value: login,
      unit: '/s',
      ceiling: { name: 'one certificate parsed and its signature checked', value: parse },
    },
  ]
}

async function tokenLogin(): Promise<BenchRow> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] })
  const { send, management } = await controllerWith({
    now: Date.now(),
    keySets: { refusal: () => undefined, fetch: async () => keys },
  })
  const signer = { name: 'idp', issuer: 'https://idp.example', audience: 'network', enabled: true, useExternalId: true }
  await management.call('POST /external-jwt-signers', { body: { ...signer, jwksEndpoint: 'https://idp.example/keys' } })
  const body = { name: 'alice', type: 'User', isAdmin: false, externalId: 'alice' } as const
  await management.call('POST /identities', { body })
  const token = await new SignJWT({ sub: 'alice' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(signer.issuer)
    .setAudience(signer.audience)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  const ceiling = await perSecond(() => jwtVerify(token, publicKey), 1)
  const headers = { authorization: `Bearer ${token}` }
  return {
    name: 'login by external JWT, verified each time (W11)',
    value: await perSecond(() => send('POST', '/authenticate?method=ext-jwt', {}, headers), 1),
    unit: '/s',
    ceiling: { name: 'ES256 verification', value: ceiling },
    target: '>=5000/s',
  }
}

async function sessionToken(): Promise<BenchRow> {
  const { controller, send } = await controllerWith()
  const { token } = await send('POST', '/authenticate?method=password', TEST_ADMIN)
  const headers = { 'zt-session': token }
  const text = await (await controller.fetch(new Request(`${CLIENT}/current-identity`, { headers }))).text()
  const bare = await perSecond(async () => {
    const request = new Request(`${CLIENT}/current-identity`, { headers })
    const response = new Response(text, {
      headers: { 'content-type': request.headers.get('accept') ?? 'application/json' },
    })
    await response.text()
  }, 1)
  return {
    name: 'session token verified and GET /current-identity (W11)',
    value: await perSecond(async () => {
      const response = await controller.fetch(new Request(`${CLIENT}/current-identity`, { headers }))
      await response.text()
    }, 1),
    unit: '/s',
    ceiling: { name: 'bare Request and Response', value: bare },
    target: '>=10000/s',
  }
}

/** Runs `work`, several at once, until it is warm and then for two seconds; how often it was done in one. */
async function perSecond(work: () => Promise<unknown>, parallel: number): Promise<number> {
  for (const until = performance.now() + 700; performance.now() < until; ) await work()
  const from = performance.now()
  let count = 0
  const worker = async () => {
    while (performance.now() - from < 2000) {
      await work()
      count += 1
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return (count / (performance.now() - from)) * 1000
}

function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}
