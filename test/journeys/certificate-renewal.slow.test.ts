import { createPublicKey, verify, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endAll, portcullis, portIn, type Running } from '../adapters/cli/cli-process.ts'
import { openTls, receiveUntil } from '../adapters/node/tls-client.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { type OpensslFolder, opensslFolder } from '../support/openssl-folder.ts'
import { renewedServerCertificate } from '../support/renewed-certificate.ts'

const admin = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
const login = { username: admin.PORTCULLIS_ADMIN_USERNAME, password: admin.PORTCULLIS_ADMIN_PASSWORD }

let cwd: string
let openssl: OpensslFolder
let service: Running
let port: number
let client: ReturnType<typeof httpsClient>
let token: string

async function ask(path: string, body?: object | string, headers: Readonly<Record<string, string>> = {}) {
  const isJson = typeof body === 'object'
  const answer = await client.fetch(path, {
    headers: { 'zt-session': token, 'content-type': isJson ? 'application/json' : 'text/plain', ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: isJson ? JSON.stringify(body) : body }),
  })
  expect(answer.status, path).toBeLessThan(300)
  return JSON.parse(await answer.text()).data
}

/** An enrollment JWT of a new identity. */
async function invite(name: string): Promise<string> {
  const { id } = await ask('/edge/management/v1/identities', {
    name,
    type: 'Device',
    isAdmin: false,
    enrollment: { ott: true },
  })
  return (await ask(`/edge/management/v1/identities/${id}`)).enrollment.ott.jwt
}

/** Whether a JWT verifies with the key of the certificate that a new TLS connection is shown, as SDKs check it. */
async function isGoodAtTheDoor(jwt: string): Promise<boolean> {
  const [head = '', claims = '', signature = ''] = jwt.split('.')
  const key = { key: createPublicKey((await presented()).toString()), dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))
}

async function enroll(jwt: string): Promise<string> {
  const { jti } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  return (await ask(`/edge/client/v1/enroll?method=ott&token=${jti}`, signingRequest(newKey()))).cert
}

async function presented(): Promise<X509Certificate> {
  const socket = await openTls(port)
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  if (certificate === undefined) throw new Error('the server presents no certificate')
  return certificate
}

const renewed = () => renewedServerCertificate(openssl)

const put = (name: string, text: string) => writeFile(join(cwd, 'pki', name), text)

/** Waits until the command said something. */
async function told(what: RegExp): Promise<void> {
  await expect.poll(() => service.stderrSoFar(), { timeout: 20_000, interval: 50 }).toMatch(what)
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-renewal-'))
  openssl = opensslFolder()
  service = portcullis(['serve', '--listen', '127.0.0.1:0', '--pki', 'pki', '--storage', 'memory'], {
    cwd,
    variables: admin,
  })
  port = portIn(await service.ready)
  for (const name of ['signing.pem', 'signing.key']) openssl.write(name, await readFile(join(cwd, 'pki', name)))
  client = httpsClient({ port, ca: await readFile(join(cwd, 'pki', 'ca.pem'), 'utf8') })
  token = ''
  token = (await ask('/edge/management/v1/authenticate?method=password', login)).token
})
afterAll(async () => {
  client.close()
  endAll()
  openssl.remove()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

describe('a server certificate that is renewed while the command serves', () => {
  it('is shown to new connections, and signs what is handed out from then on', async () => {
    const before = await presented()
    const early = await invite('early')
    const late = await invite('late')
    expect(await isGoodAtTheDoor(early)).toBe(true)
    await enroll(early)
    const open = await openTls(port)

    const { cert, key } = renewed()
    await put('server.pem', cert + openssl.read('signing.pem'))
    await put('server.key', key)
    await told(/put the renewed server certificate of \S+server\.pem in use/)

    expect((await presented()).fingerprint256).toBe(new X509Certificate(cert).fingerprint256)
    expect((await presented()).fingerprint256).not.toBe(before.fingerprint256)
    open.write('GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    expect(await receiveUntil(open, '\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    expect(open.getPeerX509Certificate()?.fingerprint256).toBe(before.fingerprint256)
    open.destroy()

    const fresh = await invite('fresh')
    expect(await isGoodAtTheDoor(fresh)).toBe(true)
    expect(await enroll(fresh)).toMatch(/^-----BEGIN CERTIFICATE-----/)
    // A device would refuse an older JWT, for the door has another key now; its token is still good, and so is a new JWT.
    expect(await isGoodAtTheDoor(late)).toBe(false)
    expect(await enroll(late)).toMatch(/^-----BEGIN CERTIFICATE-----/)
    const [controller] = await ask('/edge/management/v1/controllers')
    expect(controller.fingerprint).toBe(new X509Certificate(cert).fingerprint.replaceAll(':', '').toLowerCase())
  })

  it('stays in use when the files that follow are no good, which is told once', async () => {
    const inUse = await presented()
    await put('server.key', renewed().key)
    await told(/cannot be used, the one before stays in use: the private key in \S+ does not match/)
    expect((await presented()).fingerprint256).toBe(inUse.fingerprint256)
    await put('server.pem', 'no certificate')
    await told(/cannot be used, the one before stays in use: \S+server\.pem holds no PEM certificate/)
    expect((await presented()).fingerprint256).toBe(inUse.fingerprint256)
    expect(await isGoodAtTheDoor(await invite('meanwhile'))).toBe(true)
    expect(service.stderrSoFar().match(/cannot be used/g)).toHaveLength(2)

    const { cert, key } = renewed()
    await put('server.pem', cert)
    await put('server.key', key)
    await expect
      .poll(async () => (await presented()).fingerprint256, { timeout: 20_000, interval: 100 })
      .toBe(new X509Certificate(cert).fingerprint256)
    service.kill('SIGTERM')
    const { code, stderr } = await service.ended
    expect(code).toBe(0)
    expect(stderr).not.toContain('PRIVATE KEY')
  })
})
